"""Sentence spans: what people write, what layouts do to it, and texts that are no prose."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rag_app.text.sentences import sentence_spans


def sentences(text: str) -> list[str]:
    return [span.slice(text) for span in sentence_spans(text)]


@pytest.mark.parametrize(
    "expected",
    [
        ["Dr. Smith paid $3.50 to Mr. Jones.", "He left at 5 p.m.", "Then he slept."],
        ["See Sec. 3.2 of the U.S. Code, e.g. Art. 5.", "It grew by 3.5 percent."],
        ['He said "Stop."', "Then he left.", '"Go!" she said.', "(See fig. 3.)", "It works."],
        ["Is it?", "yes it is.", "no caps here.", "another one!"],
        ["it expires on december 31, 2017.", "a deferred tax asset of 4.5% remains."],
        ["Version v1.2.3 is out.", "Visit example.com or call foo.bar() now.", "Done…", "Next."],
        ["Er wohnt in der Hauptstr. 5, z.B. hier.", "Am 3. Mai kam er.", "Dann ging er."],
    ],
    ids=lambda expected: expected[0][:20],
)
def test_abbreviations_decimals_and_quotes_do_not_end_sentences(expected: list[str]) -> None:
    assert sentences(" ".join(expected)) == expected


def test_stops_of_other_scripts_end_sentences() -> None:
    assert sentences("水泵坏了。请更换过滤器！真的吗？他说：“你好。”然后走了。") == [
        "水泵坏了。", "请更换过滤器！", "真的吗？", "他说：“你好。”", "然后走了。",
    ]  # fmt: skip
    assert sentences("「そうです。」と言った。次の文。") == ["「そうです。」と言った。", "次の文。"]
    assert sentences("हम जा रहे हैं। वह आया।") == ["हम जा रहे हैं।", "वह आया।"]


def test_headings_items_rows_and_short_lines_are_sentences_of_their_own() -> None:
    text = "# Title\nText here. More.\n\n- one\n- two\n1. First thing. Second.\n2. Next\n\n"
    text += "| a. B | c |\n|---|---|\n| 1 | 2 |"
    assert sentences(text) == [
        "# Title", "Text here.", "More.", "- one", "- two", "1. First thing.", "Second.", "2. Next",
        "| a. B | c |", "|---|---|", "| 1 | 2 |",
    ]  # fmt: skip
    assert sentences("Name: X\nAge: 5\nCity: Long Town") == ["Name: X", "Age: 5", "City: Long Town"]
    assert sentences("```\nif x:\n    print(x)\n```\nAfter it.") == ["```", "if x:", "print(x)", "```", "After it."]


def test_a_sentence_goes_on_over_lines_that_were_wrapped() -> None:
    text = (
        "This paragraph was wrapped by hand at about\nfifty characters, so that sentences run on over\n"
        "the line ends. Another one is here and goes on\nfor long."
    )
    assert sentences(text) == [text[: text.index(" Another")], text[text.index("Another") :]]


def test_a_blank_line_always_ends_a_sentence() -> None:
    assert sentences("no stop here\n\nand none here") == ["no stop here", "and none here"]


def test_line_ends_that_were_printed_as_characters_end_sentences() -> None:
    assert sentences(r"{'content': 'Here are two.\n\n1. One thing.\n2. Another.'}")[:2] == [
        r"{'content': 'Here are two.\n\n",
        r"1. One thing.\n",
    ]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.one_of(st.text(max_size=20), st.sampled_from([". ", "\n", "\n\n", "| ", "1. ", "。", '"', "```\n"])))
)
def test_spans_are_disjoint_trimmed_and_hold_every_character(pieces: list[str]) -> None:
    text = "".join(pieces)
    spans = sentence_spans(text)
    assert all(span.slice(text) == span.slice(text).strip() != "" for span in spans)
    assert all(left.end <= right.start for left, right in itertools.pairwise(spans))
    assert "".join("".join(span.slice(text).split()) for span in spans) == "".join(text.split())


@pytest.mark.parametrize("piece", ["a.b. ", '."', "1. ", "| a. B |\n", "a\n", "word ", "。", "\\n", "```\n"])
def test_the_time_grows_with_the_length(piece: str) -> None:
    text = piece * (100_000 // len(piece))
    started = time.process_time()
    sentence_spans(text)
    assert time.process_time() - started < 5


def test_a_line_that_is_a_little_short_was_wrapped_all_the_same() -> None:
    text = (
        "The water may have a temperature between 2 °C and\n60 °C. The ambient temperature may not exceed 40\n"
        "°C. The largest suction lift is 7 m at sea level, and the\nlargest inlet pressure is 3 bar. The controller "
        "allows at\nmost 40 starts per hour."
    )
    assert [span.slice(text).replace("\n", " ") for span in sentence_spans(text)] == [
        "The water may have a temperature between 2 °C and 60 °C.",
        "The ambient temperature may not exceed 40 °C.",
        "The largest suction lift is 7 m at sea level, and the largest inlet pressure is 3 bar.",
        "The controller allows at most 40 starts per hour.",
    ]


def test_a_date_at_the_start_of_a_wrapped_line_is_no_list_item() -> None:
    text = (
        "Außerdem hat unser Techniker, Herr Bredow, den Pegel am\n28. Oktober in einem Meter Abstand von der Pumpe\n"
        "und noch einmal am Abend gemessen."
    )
    assert len(sentence_spans(text)) == 1
