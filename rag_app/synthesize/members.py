"""The kinds that the settings know under `synthesize`. A new one is one file and one line here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_app.synthesize.extractive import ExtractiveSynthesizer
from rag_app.synthesize.llm import LLMSynthesizer

Synthesis = Annotated[ExtractiveSynthesizer | LLMSynthesizer, Field(discriminator="kind")]
