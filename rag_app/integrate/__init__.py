"""The bridge into LangChain apps that exist: tools, an agent middleware, a guard around any chain, a parser."""

from rag_app.integrate.guard import verified
from rag_app.integrate.history import answer_message, with_history
from rag_app.integrate.middleware import rag_middleware
from rag_app.integrate.parser import AnswerParser, parse_citations
from rag_app.integrate.tools import as_tool
from rag_app.synthesize.prompt import cited_prompt, format_evidence

__all__ = [
    "AnswerParser",
    "answer_message",
    "as_tool",
    "cited_prompt",
    "format_evidence",
    "parse_citations",
    "rag_middleware",
    "verified",
    "with_history",
]
