"""Evidence becomes a draft with citation markers: by a chat model, or by its own best sentences."""

from typing import Annotated

from pydantic import Field

from rag_app.synthesize.base import Draft, Synthesizer
from rag_app.synthesize.extractive import ExtractiveSynthesizer
from rag_app.synthesize.llm import LLMSynthesizer
from rag_app.synthesize.packing import pack
from rag_app.synthesize.prompt import cited_prompt

Synthesis = Annotated[ExtractiveSynthesizer | LLMSynthesizer, Field(discriminator="kind")]

__all__ = [
    "Draft",
    "ExtractiveSynthesizer",
    "LLMSynthesizer",
    "Synthesis",
    "Synthesizer",
    "cited_prompt",
    "pack",
]
