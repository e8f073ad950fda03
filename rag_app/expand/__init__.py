"""Evidence in, more of its surroundings out: bigger spans of the same documents."""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

if TYPE_CHECKING:
    from rag_app.expand.base import Expander
    from rag_app.expand.members import Expansion
    from rag_app.expand.merge import MergeExpander
    from rag_app.expand.none import NoExpander
    from rag_app.expand.parent import ParentExpander
    from rag_app.expand.window import WindowExpander

__all__ = ["Expander", "Expansion", "MergeExpander", "NoExpander", "ParentExpander", "WindowExpander"]

__getattr__ = lazy_names(
    __name__,
    {
        "base": ("Expander",),
        "members": ("Expansion",),
        "merge": ("MergeExpander",),
        "none": ("NoExpander",),
        "parent": ("ParentExpander",),
        "window": ("WindowExpander",),
    },
)
