"""Evidence becomes a draft with citation markers: by a chat model, or by its own best sentences."""

from typing import TYPE_CHECKING

from rag_app.lazy import lazy_names

if TYPE_CHECKING:
    from rag_app.synthesize.base import Draft, Synthesizer
    from rag_app.synthesize.extractive import ExtractiveSynthesizer
    from rag_app.synthesize.llm import LLMSynthesizer
    from rag_app.synthesize.members import Synthesis
    from rag_app.synthesize.packing import pack
    from rag_app.synthesize.prompt import cited_prompt

__all__ = ["Draft", "ExtractiveSynthesizer", "LLMSynthesizer", "Synthesis", "Synthesizer", "cited_prompt", "pack"]

__getattr__ = lazy_names(
    __name__,
    {
        "base": ("Draft", "Synthesizer"),
        "extractive": ("ExtractiveSynthesizer",),
        "llm": ("LLMSynthesizer",),
        "members": ("Synthesis",),
        "packing": ("pack",),
        "prompt": ("cited_prompt",),
    },
)
