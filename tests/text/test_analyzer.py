"""Words as terms: folding, identifiers, stems, scripts without spaces, languages."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.text import Analyzer
from rag_app.text.languages import detect_language
from rag_app.text.words import WordTable

PLAIN = Analyzer(language="none")


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Filter?", ["filter"]),
        ("AB-123", ["ab-123", "ab", "123"]),
        ("goals.md", ["goals.md", "goals", "md"]),
        ("snake_case", ["snake_case", "snake", "case"]),
        ("__init__", ["__init__", "init"]),
        ("STRASSE Straße", ["strasse", "strasse"]),
        ("水泵过滤器", ["水泵", "泵过", "过滤", "滤器"]),
        ("iPhone手机", ["iphone", "手机"]),
        ("ﬁlter ＡＢ", ["filter", "ab"]),
        ("हिन्दी", ["हिन्दी"]),
        ("", []),
        ("... !", []),
    ],
)
def test_a_text_has_these_terms(text: str, terms: list[str]) -> None:
    assert PLAIN.terms(text) == terms


def test_single_characters_of_a_run_are_indexed_too() -> None:
    assert PLAIN.index_terms("水泵", language="none") == ["水泵", "水", "泵"]
    assert PLAIN.query_terms("泵", languages=["none"]) == {"泵": 1}


def test_words_are_stemmed_in_their_language_and_identifiers_are_not() -> None:
    assert Analyzer().terms("the running pumps of AB-runs") == ["the", "run", "pump", "of", "ab-runs", "ab", "run"]
    assert Analyzer(language="german").terms("Verträge") == Analyzer(language="german").terms("Vertrag")
    assert Analyzer(stemming=False).terms("running") == ["running"]


def test_a_query_is_stemmed_in_every_language_of_the_index() -> None:
    terms = Analyzer().query_terms("Pumps", languages=["english", "german"])
    assert set(terms) == {"pump", "pumps"}


def test_function_words_leave_a_query_that_has_other_words() -> None:
    assert Analyzer().query_terms("what is the pump", languages=["english"]) == {"pump": 1}
    assert Analyzer().query_terms("to be or not to be", languages=["english"]) == {"to": 2, "be": 2, "or": 1, "not": 1}
    assert "the" in Analyzer(stop_words=False).query_terms("the pump", languages=["english"])


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The pump stops when the filter is clogged.", "english"),
        ("Die Pumpe hält an, wenn der Filter verstopft ist.", "german"),
        ("La pompe s'arrête quand le filtre est bouché.", "french"),
        ("La bomba se para cuando el filtro está obstruido.", "spanish"),
        ("Насос останавливается, когда фильтр засорён.", "russian"),
        ("过滤器堵塞时水泵停止。", "none"),
        ("pump filter", "english"),
        ("12 345 - 678", "none"),
        ("", "none"),
    ],
)
def test_the_language_is_told_by_function_words(text: str, language: str) -> None:
    assert detect_language(text) == language


@given(st.text(alphabet=st.characters(max_codepoint=127)))
def test_a_character_of_another_alphabet_leaves_the_words_of_an_ascii_text_as_they_are(text: str) -> None:
    assert detect_language(f"{text} the of xé", "none") == detect_language(f"{text} the of xe", "none")


def test_an_unknown_language_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"klingon.*auto, none.*german"):
        Analyzer(language="klingon")


@given(st.text(max_size=60), st.sampled_from(["auto", "none", "german"]))
def test_every_term_comes_from_its_span_and_terms_agree_with_tokens(text: str, language: str) -> None:
    analyzer = Analyzer(language=language)
    tokens = analyzer.tokens(text)
    assert [token.term for token in tokens] == analyzer.terms(text)
    for token in tokens:
        assert 0 <= token.span.start < token.span.end <= len(text)
        assert token.term
    plain = Analyzer(language="none")
    for token in plain.tokens(text):
        assert plain.terms(token.span.slice(text))[0] == token.term


texts = st.text(alphabet=st.one_of(st.characters(), st.sampled_from("aB3_-.'/,( \n\x1c\u2009éß水β’")), max_size=40)


@given(st.lists(texts, max_size=5))
def test_many_texts_at_once_have_the_terms_of_each_alone(pieces: list[str]) -> None:
    pieces += ["(cells), p53-/- Tks5/Fish running.", "__init__ ___", "β-catenin CELLS", "x" * 40 + " " + "x" * 39]
    table = WordTable()
    words, places = table.number(pieces)
    for analyzer in (Analyzer(), Analyzer(cjk="characters"), Analyzer(parts=False, stemming=False)):
        terms = list(analyzer.index_terms_each(table.words(), language="english"))
        for i, piece in enumerate(pieces):
            together = Counter(term for word in words[places == i].tolist() for term in terms[word])
            assert together == Counter(analyzer.index_terms(piece, language="english"))
