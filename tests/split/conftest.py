"""Generated texts for the splitters: everything that people's files hold."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

_PIECES = [
    "The pump costs $3.50 per day. ",
    "Dr. Smith left at 5 p.m. Then he slept. ",
    "水泵坏了。请更换过滤器！真的吗？",
    "\r\n",
    "\n",
    "\n\n",
    "\t",
    "   ",
    "# Heading\n\n",
    "- item one\n- item two\n",
    "| a | b |\n|---|---|\n| 1 | 2 |\n",
    "```python\nx = 1\n\ny = 2\n```\n",
    "👩‍👩‍👧‍👦 family 🇩🇪 flag. ",
    "e\u0301\u0300 combining a\u0308. ",
    "again and again. ",
    "again and again. ",
    "\u200b",
    "\xa0",
    "\u3000",
    "…",
    "def f(x):\n    return x\n\n",
    "class A:\n    def g(self):\n        pass\n",
    "x" * 120,
    "こんにちは世界。",
    "مرحبا بالعالم. كيف حالك؟ ",
    "<h2>Title</h2><p>text</p>",
    "no stops here just words " * 6,
    "A; b, c: d — e. ",
    '"Stop!" he said. ',
    "\x1f",
    "\x0c",
]


@pytest.fixture(scope="session")
def texts() -> st.SearchStrategy[str]:
    """Texts with CRLF, emoji, combining marks, CJK, repeated text, tables, fences and very long lines."""
    pieces = st.lists(st.one_of(st.sampled_from(_PIECES), st.text(max_size=12)), max_size=40).map("".join)
    return st.one_of(pieces, pieces.map(lambda text: text * 3), st.text(max_size=200))
