"""What every splitter that aims at a size refuses and promises."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from rag_app.split import CodeSplitter, HtmlSplitter, MarkdownSplitter


@pytest.mark.parametrize("splitter", [CodeSplitter, HtmlSplitter, MarkdownSplitter])
def test_the_most_is_not_below_the_aim(splitter: type[CodeSplitter]) -> None:
    with pytest.raises(ValidationError, match="max_size 50 must not be smaller than chunk_size 100"):
        splitter(chunk_size=100, max_size=50)
    assert splitter(chunk_size=100, max_size=100).most == 100


@pytest.mark.parametrize("splitter", [CodeSplitter, HtmlSplitter, MarkdownSplitter])
def test_no_chunk_is_above_the_most_by_default_1_4_times_the_aim(splitter: type[CodeSplitter]) -> None:
    chosen = splitter(chunk_size=100)
    text = "\n".join(f"line {i} = {i} + {i}" for i in range(200))
    assert chosen.most == 140
    assert max(len(span.slice(text)) for span in chosen.spans(text)) <= 140
