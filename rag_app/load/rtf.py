"""RTF with striprtf."""

from __future__ import annotations

import re
from collections.abc import Callable

from rag_app.load.parsed import Fault, Parsed, ReadOptions, clean
from rag_app.types import MissingExtraError

_INFO = re.compile(r"\{\\(title|author|subject|keywords)\s([^{}]*)\}")


def read_rtf(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """The text; title and author as the file states them."""
    try:
        import striprtf.striprtf as striprtf
    except ImportError:
        raise MissingExtraError("striprtf", "docs", "loading RTF files") from None
    rtf_to_text: Callable[..., str] = striprtf.rtf_to_text
    source = data.decode("latin-1")
    try:
        text = rtf_to_text(source, errors="replace")
    except (ValueError, IndexError, LookupError) as error:
        raise Fault("broken", f"cannot be read as RTF: {error}") from None
    facts = {
        key: clean(rtf_to_text("{\\rtf1 " + value + "}", errors="replace")) for key, value in _INFO.findall(source)
    }
    paragraphs = [line.rstrip() for line in text.replace("\r", "").split("\n")]
    return [Parsed(re.sub(r"\n{3,}", "\n\n", "\n".join(paragraphs)), "rtf", {k: v for k, v in facts.items() if v})]
