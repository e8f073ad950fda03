from __future__ import annotations

from collections.abc import Callable

import pytest

from rag_app.load.parsed import Failed, Parsed


def test_text_is_normalized_once_and_its_encoding_noted(parse: Callable[..., Parsed]) -> None:
    parsed = parse("\ufeff  a\r\n\x07b  \r\n", "a.txt")
    assert parsed.text == "a\nb"
    assert parsed.metadata["encoding"] == "utf-8"


@pytest.mark.parametrize(
    ("name", "language"), [("a.py", "python"), ("A.RS", "rust"), ("Makefile", "make"), ("x.yml", "yaml")]
)
def test_source_code_is_known_by_its_name(parse: Callable[..., Parsed], name: str, language: str) -> None:
    parsed = parse("def f():\n    return 1\n", name)
    assert parsed.text == "def f():\n    return 1"
    assert parsed.metadata["document_type"] == "code"
    assert parsed.metadata["code_language"] == language


def test_a_file_without_text_fails(fail: Callable[..., Failed]) -> None:
    assert fail("", "a.txt").error == "empty"
    assert fail(" \n\t ", "a.txt").error == "empty"
    assert fail("\ufeff", "a.txt").error == "empty"


AGREEMENT = """SUPPLY AGREEMENT No. 7

between two parties

1. DEFINITIONS

1.1 "Product" means a pump.

1.2 Scope of the terms

They apply.

2. Price

It is five.
"""


def test_numbered_lines_and_capitals_that_stand_alone_are_headings(parse: Callable[..., Parsed]) -> None:
    parsed = parse(AGREEMENT, "a.txt")
    assert [(level, title) for _, level, title in parsed.headings] == [
        (1, "1. DEFINITIONS"),
        (2, "1.2 Scope of the terms"),
        (1, "2. Price"),
    ]
    assert all(parsed.text[start:].startswith(title) for start, _, title in parsed.headings)
    assert parsed.metadata["title"] == "SUPPLY AGREEMENT No. 7"


def test_the_title_is_a_short_first_line_or_the_subject_of_a_mail(parse: Callable[..., Parsed]) -> None:
    assert parse("Pumps\n\nThey run.", "a.txt").metadata["title"] == "Pumps"
    assert parse("They run.\n\nAll day.", "a.txt").metadata["title"] == "a"
    mail = parse("From: Ann\nTo: Bob\nDate: today\nSubject: Re: pump\n\nDear Bob,", "a.txt")
    assert (mail.metadata["title"], mail.metadata["document_type"]) == ("Re: pump", "email")
