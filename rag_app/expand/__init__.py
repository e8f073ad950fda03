"""Evidence in, more of its surroundings out: bigger spans of the same documents."""

from typing import Annotated

from pydantic import Field

from rag_app.expand.base import Expander
from rag_app.expand.merge import MergeExpander
from rag_app.expand.none import NoExpander
from rag_app.expand.parent import ParentExpander
from rag_app.expand.window import WindowExpander

Expansion = Annotated[NoExpander | ParentExpander | WindowExpander | MergeExpander, Field(discriminator="kind")]

__all__ = ["Expander", "Expansion", "MergeExpander", "NoExpander", "ParentExpander", "WindowExpander"]
