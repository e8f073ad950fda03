"""What a chat model can do for a question before it is searched for. Every part falls back to the plain question."""

from rag_app.retrieve.query.base import Asked, QueryTransform
from rag_app.retrieve.query.decompose import DecomposeQuery
from rag_app.retrieve.query.hyde import HypotheticalDocument
from rag_app.retrieve.query.multi_query import MultiQuery
from rag_app.retrieve.query.retriever import QueryRetriever
from rag_app.retrieve.query.rewrite import RewriteQuery
from rag_app.retrieve.query.self_query import SelfQuery

__all__ = [
    "Asked",
    "DecomposeQuery",
    "HypotheticalDocument",
    "MultiQuery",
    "QueryRetriever",
    "QueryTransform",
    "RewriteQuery",
    "SelfQuery",
]
