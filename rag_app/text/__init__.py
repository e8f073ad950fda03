"""Text with offsets: sentence spans, word spans, the analyzer that BM25 and verification share, normalization."""

from rag_app.text.analyzer import Analyzer, Token
from rag_app.text.normalize import normalize
from rag_app.text.sentences import sentence_spans

__all__ = ["Analyzer", "Token", "normalize", "sentence_spans"]
