"""The kinds that the settings know under `expand`. A new one is one file and one line here."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from rag_app.expand.merge import MergeExpander
from rag_app.expand.none import NoExpander
from rag_app.expand.parent import ParentExpander
from rag_app.expand.window import WindowExpander

Expansion = Annotated[NoExpander | ParentExpander | WindowExpander | MergeExpander, Field(discriminator="kind")]
