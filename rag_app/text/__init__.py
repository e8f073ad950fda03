"""Text with offsets: sentence spans, word spans, the analyzer that BM25 and verification share, normalization."""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names
from rag_app.text.normalize import normalize

if TYPE_CHECKING:
    from rag_app.text.analyzer import Analyzer, Token
    from rag_app.text.sentences import sentence_spans

__all__ = ["Analyzer", "Token", "normalize", "sentence_spans"]

__getattr__ = lazy_names(
    __name__,
    {
        "analyzer": ("Analyzer", "Token"),
        "sentences": ("sentence_spans",),
    },
)
