from __future__ import annotations

from collections.abc import Callable

from rag_app.load.markdown import markdown_headings, split_front_matter
from rag_app.load.parsed import Parsed

PAGE = """# Install *now*

Text.

```sh
# not a heading
```

Second level
------------

<!-- # hidden -->

### Deep `code` ###
"""


def test_headings_are_found_with_their_places_outside_code_and_comments() -> None:
    headings = markdown_headings(PAGE)
    assert [(level, title) for _, level, title in headings] == [
        (1, "Install now"),
        (2, "Second level"),
        (3, "Deep code"),
    ]
    assert [PAGE[start:].split("\n")[0] for start, _, _ in headings] == [
        "# Install *now*",
        "Second level",
        "### Deep `code` ###",
    ]


def test_front_matter_becomes_metadata_and_leaves_the_text(parse: Callable[..., Parsed]) -> None:
    page = "---\ntitle: Guide\ndate: 2024-05-01\ntags: [a, b]\ndocument_type: contract\n---\n# Head\nBody\n"
    parsed = parse(page, "a.md")
    assert parsed.text == "# Head\nBody"
    assert parsed.metadata["title"] == "Guide"
    assert parsed.metadata["date"] == "2024-05-01"
    assert parsed.metadata["tags"] == ["a", "b"]
    assert parsed.metadata["document_type"] == "contract"
    assert parsed.headings == ((0, 1, "Head"),)


def test_toml_and_loose_front_matter_are_read_too() -> None:
    assert split_front_matter('+++\ntitle = "T"\n+++\nx') == ({"title": "T"}, "x")
    assert split_front_matter("---\ntitle: a: b\nlayout: x\n---\ny") == ({"title": "a: b", "layout": "x"}, "y")


def test_a_rule_at_the_top_is_no_front_matter() -> None:
    assert split_front_matter("---\n\nJust text\n") == ({}, "---\n\nJust text\n")
    assert split_front_matter("---\njust text\n---\nmore") == ({}, "---\njust text\n---\nmore")


def test_front_matter_that_multiplies_itself_is_left_in_the_text() -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [f"{c}: &{c} [{','.join(['*' + chr(ord(c) - 1)] * 9)}]" for c in "bcdefgh"]
    page = "---\n" + "\n".join(lines) + "\n---\ntext"
    assert split_front_matter(page) == ({}, page)


def test_the_first_heading_is_the_title_and_the_file_name_else(parse: Callable[..., Parsed]) -> None:
    assert parse("Text\n\n## Head\n", "a.md").metadata["title"] == "Head"
    assert parse("Text\n", "my-file.md").metadata["title"] == "my-file"


def test_windows_newlines_do_not_move_headings(parse: Callable[..., Parsed]) -> None:
    parsed = parse("e\u0301\r\n\r\n# One\r\n\r\nx\r\n\r\n# Two\r\n", "a.md")
    assert [parsed.text[start:].split("\n")[0] for start, _, _ in parsed.headings] == ["# One", "# Two"]
