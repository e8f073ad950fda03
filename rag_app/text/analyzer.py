"""Words as search terms, with their places. One analyzer serves indexing, queries and verification alike."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, field_validator

from rag_app.text.languages import STOP_WORDS, detect_language
from rag_app.types import ConfigError, Span

# Scripts that put no space between words: Thai, Lao, Burmese, Khmer, kana, Han, Hangul.
_RUNS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
    "\uff66-\uff9f\U00020000-\U0003ffff"
)
# `\w` has no combining marks; without them Hindi or a decomposed accent falls into pieces.
_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0962\u0963"
    "\u0981-\u0983\u09bc-\u09d7\u0a01-\u0a03\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82"
    "\u0bbe-\u0bcd\u0c00-\u0c04\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d"
)
_LEXICON_SIZE = 1 << 18
_LONGEST_KEPT = 40
_JOIN = "[-._'’/\u2010\u2011]"
_CHAR = rf"(?:[^\W{_RUNS}]|[{_MARKS}])"
_ASCII_WORD = re.compile(r"\w+(?:[-._'/]\w+)*", re.ASCII)
_WORD = re.compile(rf"{_CHAR}+(?:{_JOIN}{_CHAR}+)*|[{_RUNS}]+")
_RUN = re.compile(rf"[{_RUNS}]+")
_ASCII_PART = re.compile(r"[^\W_]+", re.ASCII)
_PART = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")


class Token(NamedTuple):
    """A search term and the characters it comes from."""

    term: str
    span: Span


class Analyzer(BaseModel):
    """Turns text into terms: Unicode case folding, identifiers whole and in parts, stems, character pairs for CJK.

    `language`: "auto" tells it by function words, text by text; "none" stems nothing; else a Snowball name. An index
    analyzes each document in its own language and a query in all languages it holds, so that both meet.
    `stop_words`: function words are left out of queries that have other words; they are indexed all the same.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    language: str = Field(default="auto", description='"auto", "none" or a Snowball name such as "german"')
    stemming: bool = True
    stop_words: bool = True
    parts: bool = Field(default=True, description="also index the parts of AB-123, goals.md, snake_case")
    cjk: Literal["bigrams", "characters"] = "bigrams"

    @field_validator("language")
    @classmethod
    def _known_language(cls, value: str) -> str:
        if value not in ("auto", "none"):
            _stemmer(value)
        return value

    def detect(self, text: str) -> str:
        """The language to analyze the text in: the setting, or what its function words tell; "none" for no language."""
        return detect_language(text) if self.language == "auto" else self.language

    def tokens(self, text: str, *, language: str | None = None) -> list[Token]:
        """The terms of `text` with their spans, in order; parts of an identifier follow the whole.

        `language` overrides what would be detected: give the same to both texts that are to be compared.
        """
        stem = self._stem_for(self.detect(text) if language is None else language)
        return [Token(term, Span(start, end)) for term, start, end in self._tokens(text, stem)]

    def terms(self, text: str, *, language: str | None = None) -> list[str]:
        """The terms alone."""
        stem = self._stem_for(self.detect(text) if language is None else language)
        lookup = _lexicon(stem, self.parts, self.cjk).__getitem__
        # No word reaches over a space; looking pieces up is much faster than finding the words in them.
        return list(chain.from_iterable(map(lookup, text.split())))

    def index_terms(self, text: str, *, language: str) -> list[str]:
        """The terms to index: those of `terms`, and the single characters of CJK runs, to be asked for alone."""
        return self.terms(text, language=language) + self._single_characters(text)

    def _single_characters(self, text: str) -> list[str]:
        if self.cjk != "bigrams" or text.isascii():
            return []
        return list(chain.from_iterable(run for run in _RUN.findall(text) if len(run) > 1))

    def index_terms_each(self, words: Iterable[str], *, language: str) -> Iterator[Sequence[str]]:
        """`index_terms` of each of many words, told apart by a `WordTable`.

        The parts of all are found by one search: several times as fast as in one word after the other.
        """
        words, stems = list(words), _Stems(self._stem_for(language))
        stems.learn([word for word in words if word.isascii() and word.isalpha()])
        composed = [word for word in words if self.parts and word.isascii() and not word.isalpha()]
        parts_of = dict(zip(composed, _found_in_each(_ASCII_PART, composed), strict=True))
        for word in words:
            if word in stems:
                yield (stems[word],)
            elif word.isascii():
                parts = parts_of.get(word, [word])
                yield [stems[word]] if parts == [word] else [word, *[stems[part] for part in parts]]
            else:
                terms = [_word_terms(each, stems, self.parts, self.cjk) for each in _WORD.findall(word)]
                yield [*chain.from_iterable(terms), *self._single_characters(word)]

    def query_terms(self, text: str, *, languages: Sequence[str]) -> dict[str, int]:
        """Terms to look up, with how often the query has them: each word in each of `languages`.

        `languages` are those of the index, commonest first. Function words are left out when other words stand beside
        them. The order is that of the query; no words give an empty result.
        """
        languages = languages or ["none"]
        stop: frozenset[str] = frozenset()
        if self.stop_words:
            own = detect_language(text, default=languages[0]) if self.language == "auto" else self.language
            stop = STOP_WORDS.get(own, frozenset())
        words = (_ASCII_WORD if text.isascii() else _WORD).findall(text)
        kept = [word for word in words if word.casefold() not in stop] or words
        counts: dict[str, int] = {}
        stems = [self._stem_for(language) for language in dict.fromkeys(languages)]
        for word in kept:
            forms = dict.fromkeys(
                (term, place) for stem in stems for place, term in enumerate(_lexicon(stem, self.parts, self.cjk)[word])
            )
            for term, _ in forms:
                counts[term] = counts.get(term, 0) + 1
        return counts

    def _stem_for(self, language: str) -> str | None:
        return language if self.stemming and language != "none" else None

    def _tokens(self, text: str, stem: str | None) -> Iterator[tuple[str, int, int]]:
        for match in (_ASCII_WORD if text.isascii() else _WORD).finditer(text):
            word, start = match.group(), match.start()
            spans = _word_spans(word, self.parts, self.cjk)
            for term, (a, b) in zip(_lexicon(stem, self.parts, self.cjk)[word], spans, strict=True):
                yield term, start + a, start + b


class _Stems(dict[str, str]):
    """The stem of each word met so far; what is not all letters, and any word where `language` is None, stays."""

    def __init__(self, language: str | None) -> None:
        super().__init__()
        self._stem = None if language is None else _stemmer(language)

    def learn(self, words: Sequence[str]) -> None:
        """Take in the stems of many words that are all letters."""
        self.update(zip(words, words if self._stem is None else map(self._stem, words), strict=True))

    def __missing__(self, word: str) -> str:
        stem = self[word] = word if self._stem is None or not word.isalpha() else self._stem(word)
        return stem


class _Lexicon(dict[str, tuple[str, ...]]):
    """The terms of each word, or piece of text between spaces, met so far; forgets all when it has grown large."""

    def __init__(self, stem: str | None, parts: bool, cjk: str) -> None:
        super().__init__()
        self._stem, self._settings = stem, (parts, cjk)

    def __missing__(self, piece: str) -> tuple[str, ...]:
        if len(self) >= _LEXICON_SIZE:
            self.clear()
        stems = _Stems(self._stem)
        words = (_ASCII_WORD if piece.isascii() else _WORD).findall(piece)
        terms = tuple(chain.from_iterable([self._of_word(word, piece, stems) for word in words]))
        if len(piece) <= _LONGEST_KEPT:
            self[piece] = terms
        return terms

    def _of_word(self, word: str, piece: str, stems: Mapping[str, str]) -> tuple[str, ...]:
        known = self.get(word)
        if known is None:
            known = _word_terms(word, stems, *self._settings)
            if len(word) <= _LONGEST_KEPT and word is not piece:
                self[word] = known
        return known


@functools.lru_cache(maxsize=64)
def _lexicon(stem: str | None, parts: bool, cjk: str) -> _Lexicon:
    return _Lexicon(stem, parts, cjk)


def _word_terms(word: str, stems: Mapping[str, str], parts: bool, cjk: str) -> tuple[str, ...]:
    if word.isascii():
        lower = word.lower()
        inner: list[str] = [lower] if word.isalpha() or not parts else _ASCII_PART.findall(lower)
        # The whole of an identifier is a name and stays as it is; words, alone or as parts of it, are stemmed.
        stemmed = [stems[part] for part in inner]
        return tuple(stemmed if inner == [lower] else [lower, *stemmed])
    if _RUN.match(word):
        return tuple(_fold(word[a:b]) for a, b in _word_spans(word, parts, cjk))
    spans = _word_spans(word, parts, cjk)
    whole = () if spans[0] == (0, len(word)) and len(spans) == 1 else (_fold(word),)
    return whole + tuple(stems[_fold(word[a:b])] for a, b in spans[len(whole) :])


def _found_in_each(pattern: re.Pattern[str], lines: Sequence[str]) -> Iterator[list[str]]:
    """What the pattern finds in each line, by one search; no match may reach over the end of a line."""
    found = re.findall(rf"{pattern.pattern}|\n", "".join([f"{line}\n" for line in lines]), pattern.flags)
    start = 0
    for end in [place for place, match in enumerate(found) if match == "\n"]:
        yield found[start:end]
        start = end + 1


def _word_spans(word: str, parts: bool, cjk: str) -> list[tuple[int, int]]:
    if _RUN.match(word):
        if cjk == "characters" or len(word) == 1:
            return [(i, i + 1) for i in range(len(word))]
        return [(i, i + 2) for i in range(len(word) - 1)]
    if not parts:
        return [(0, len(word))]
    inner = [match.span() for match in _PART.finditer(word)]
    return inner if inner == [(0, len(word))] else [(0, len(word)), *inner]


def _fold(word: str) -> str:
    folded = word.casefold()
    return folded if folded.isascii() else unicodedata.normalize("NFKC", folded).casefold()


@functools.lru_cache(maxsize=64)
def _stemmer(language: str) -> Callable[[str], str]:
    import Stemmer

    try:
        stem: Any = Stemmer.Stemmer(language, maxCacheSize=0).stemWord  # the lexicon remembers
    except KeyError:
        known = ", ".join(sorted(Stemmer.algorithms()))
        raise ConfigError(f"analyzer.language: {language!r} is unknown; there are auto, none, {known}") from None
    checked: Callable[[str], str] = stem
    return checked
