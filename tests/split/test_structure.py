"""Markdown and HTML: along headings, tables and fences whole, even sizes."""

from __future__ import annotations

import itertools

from langchain_core.documents import Document

from rag_app.split import HtmlSplitter, MarkdownSplitter
from rag_app.split.blocks import find_blocks
from rag_app.types import Heading, Layout, LoadedDocument

PROSE = "The pump moves water. It has a filter. " * 4
TABLE = "| part | price |\n|---|---|\n" + "\n".join(f"| filter {i} | {i} USD |" for i in range(12))
FENCE = "```python\n" + "\n".join(f"x{i} = {i}" for i in range(10)) + "\n\n# no heading\n```"


def test_blocks_are_headings_tables_fences_and_text() -> None:
    text = f"Title\n=====\n\n{PROSE}\n\n## Parts ##\n{TABLE}\n\n{FENCE}\n = = Wiki = = \nEnd."
    blocks = find_blocks(text)
    assert [(block.kind, block.level, block.title) for block in blocks if block.kind != "text"] == [
        ("heading", 1, "Title"), ("heading", 2, "Parts"), ("table", 0, ""), ("code", 0, ""), ("heading", 2, "Wiki"),
    ]  # fmt: skip
    assert "".join("".join(block.span.slice(text).split()) for block in blocks) == "".join(text.split())


def test_chunks_begin_at_headings_and_know_their_path() -> None:
    text = f"# Manual\n\n{PROSE}\n\n## Pump\n\n{PROSE}\n\n## Filter\n\n{PROSE}"
    chunks = MarkdownSplitter(chunk_size=180).create_documents([text])
    assert [chunk.metadata["section_path"] for chunk in chunks] == [
        ["Manual"],
        ["Manual", "Pump"],
        ["Manual", "Filter"],
    ]
    assert all(chunk.page_content.startswith("#") for chunk in chunks)


def test_small_sections_share_a_chunk_and_a_heading_goes_with_what_follows() -> None:
    text = "\n\n".join(f"## Step {i}\n\nPress button {i}." for i in range(20))
    chunks = MarkdownSplitter(chunk_size=150).split_text(text)
    assert all(100 < len(chunk) <= 210 and chunk.startswith("##") and chunk.endswith(".") for chunk in chunks)


def test_tables_and_fences_are_whole_where_they_fit() -> None:
    text = f"{PROSE}\n\n{TABLE}\n\n{PROSE}\n\n{FENCE}\n\n{PROSE}"
    chunks = MarkdownSplitter(chunk_size=300).split_text(text)
    assert any(TABLE in chunk for chunk in chunks)
    assert any(FENCE in chunk for chunk in chunks)


def test_a_big_table_is_cut_between_rows_and_its_parts_embed_the_first_row() -> None:
    chunks = MarkdownSplitter(chunk_size=120).create_documents([TABLE])
    rows = TABLE.split("\n")
    assert all(line in rows for chunk in chunks for line in chunk.page_content.split("\n"))
    assert chunks[0].page_content.startswith("| part | price |\n|---|---|\n| filter 0")
    for chunk in chunks[1:]:
        assert chunk.metadata["embed_text"] == f"| part | price |\n\n{chunk.page_content}"
    assert "embed_text" not in chunks[0].metadata


def test_headings_that_the_loader_found_come_first() -> None:
    text = "Intro\n\nOne two. " + PROSE + "\n\nMore\n\n" + PROSE
    layout = Layout(
        headings=(Heading(start=0, level=1, title="Intro"), Heading(start=text.index("More"), level=1, title="More"))
    )
    document = LoadedDocument(page_content=text, layout=layout)
    chunks = MarkdownSplitter(chunk_size=170).chunks(document)
    assert [chunk.metadata["section_path"] for chunk in chunks] == [["Intro"], ["More"]]


def test_sizes_are_even_and_no_sentence_is_cut() -> None:
    text = " ".join(f"Sentence number {i} says something about part {i * 7 % 13}." for i in range(200))
    sizes = [len(chunk) for chunk in MarkdownSplitter(chunk_size=400).split_text(text)]
    assert max(sizes) - min(sizes) <= 120
    assert 0.8 * 400 <= sum(sizes) / len(sizes) <= 1.2 * 400
    assert all(chunk.endswith(".") for chunk in MarkdownSplitter(chunk_size=400).split_text(text))


def test_an_overlap_repeats_whole_sentences_but_not_over_a_heading() -> None:
    text = " ".join(f"Sentence number {i}." for i in range(30)) + "\n\n# Next\n\nNew subject."
    splitter = MarkdownSplitter(chunk_size=120, chunk_overlap=40)
    spans = splitter.spans(text)
    assert all(right.start < left.end for left, right in itertools.pairwise(spans[:-1]))
    assert all(span.slice(text).startswith("Sentence") for span in spans[:-1])


def test_html_source_is_cut_at_its_headings_and_tables_stay_whole() -> None:
    table = "<table>" + "".join(f"<tr><td>{i}</td><td><h3>x</h3></td></tr>" for i in range(5)) + "</table>"
    text = f"<h1>Manual</h1><p>{PROSE}</p>\n<h2 class='a'>Parts</h2>\n<p>{PROSE}</p>{table}<p>{PROSE}</p>"
    chunks = HtmlSplitter(chunk_size=250).transform_documents([Document(page_content=text)])
    assert any(table in chunk.page_content for chunk in chunks)
    assert chunks[0].metadata["section_path"] == ["Manual"]
    assert ["Manual", "Parts"] in [chunk.metadata["section_path"] for chunk in chunks]
