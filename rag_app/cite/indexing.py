"""What is in brackets and cites nothing: `a[0]` is code, `in [0, 1]` an interval; `30 days[1].` cites."""

from __future__ import annotations

import re

# Characters after a bracket that decide what it is; a stream waits for them.
LOOKAHEAD = 6

_NAME = re.compile(r"[A-Za-z_$][\w$]*(?:(?:\.|->|::)[A-Za-z_$][\w$]*)*\Z", re.ASCII)
_CALL = re.compile(r"[A-Za-z_][\w.]*\([^()\n]*\)\Z", re.ASCII)
_OPEN_CALL = re.compile(r"(?:[A-Za-z_]\w*\(|(?<![=<>!])=[ \t]?)\Z", re.ASCII)
_CODE_AFTER = re.compile(r"[ \t]*(?:[-+*/|&^%]?=(?!=)[ \t]*\S|==|\+\+|--|:=)|\.[a-z_]\w*|->|\w")
_SENTENCE_AFTER = re.compile(r"[ \t]*(?:[.,;:!?)\]}»”\"']|\n|\Z|。|，|；)")
_FILE_NAME = re.compile(
    r"\.(?:py|js|ts|md|txt|html?|css|json|ya?ml|toml|csv|pdf|docx?|com|org|net|io|de|eu|gov|edu|cfg)\Z"
)
_SURE_NAMES = re.compile(
    r"arr|array|lst|argv|argc|args|kwargs|vec|mat|tmp|buf|ptr|idx|foo|bar|baz|dict|obj|nums|elems?|vals|cols|str|params|df|dp|"
    r"memo|ary|self|this|chars?|mylist|myarray"
)
_LIKELY_NAMES = re.compile(
    r"list|data|map|set|string|buffer|grid|table|matrix|tuple|queue|stack|items?|rows?|values?|vectors?|tokens?|keys?|results?|"
    r"elements|entries|numbers|words|lines|files|names|nodes?|inputs?|outputs?|points|scores|weights|index|indices|options|"
    r"records|fields|parts"
)

_INTERVAL = re.compile(r"\[[ \t]*0[ \t]*[,;][ \t]*\d{1,9}[ \t]*\]")
_BEFORE_INTERVAL = re.compile(
    r"(?:∈|[=~≈]|\b(?:in|im|dans|within|intervall?s?|intervalles?|ranges?|bereich|domain|segment|scale|between|zwischen|"
    r"entre))[ \t]*\Z",
    re.I,
)
# What is "mentioned in", "found in" or "beschrieben in" stands in a source; German nouns ("Werten in") do not.
_TOLD_IN = re.compile(
    r"\b([^\W\d_]+(?:ed|wn|und)|[a-zäöüß]+en|[^\W\d_]*ge[a-zäöüß]+t|erwähnt|Given|Seen|Written|Taken)\s+in[ \t]*\Z"
)
# These end alike, and numbers do them or are so.
_RANGES_IN = re.compile(
    r"(?:un)?bounded|contained|(?:re)?scaled|clipped|clamped|limited|restricted|confined|constrained|distributed|mapped|"
    r"truncated|valued|(?:un)?normali[sz]ed|chosen|been|often|even|then|when|open|"
    r"liegen|bleiben|fallen|landen|schwanken|streuen|variieren|werden|rund"
)
_WINDOW = 40  # characters before a bracket that say what it is


def is_index(raw: str, start: int, end: int, numbers: tuple[int, ...]) -> bool:
    """Whether the bracket raw[start:end] indexes the name before it (`a[0]`, `rows[1].name`), as code does.

    A marker glued to a word of prose (`30 days[1].`) is a citation; a name of code, a call, a zero or an operator
    after the bracket make it an index.
    """
    before = raw[max(0, start - 80) : start]
    if _OPEN_CALL.search(before):
        return True
    if _CALL.search(before):
        return True
    name = _NAME.search(before)
    if name is None:
        return False
    word = name.group()
    if not word.strip("_"):  # emphasis, `_[1]_`
        return False
    head = before[: name.start()][-1:]
    if head and (head.isalnum() or head in "-'’"):
        return False
    after = raw[end : end + LOOKAHEAD]
    return _reads_as_code(word, after, numbers)


def _reads_as_code(word: str, after: str, numbers: tuple[int, ...]) -> bool:
    if 0 in numbers or _CODE_AFTER.match(after):
        return True
    last = re.split(r"\.|->|::", word)[-1]
    if word != last:
        if word.startswith(("self.", "this.")) or "->" in word or "::" in word:
            return True
        return not _FILE_NAME.search(word) and not _SENTENCE_AFTER.match(after) and word.count(".") == 1
    if len(word) == 1:
        return word.islower() or word == "$"
    if "_" in word or "$" in word or _SURE_NAMES.fullmatch(word):
        return True
    if _LIKELY_NAMES.fullmatch(word):
        return not _SENTENCE_AFTER.match(after)
    return bool(re.fullmatch(r"[a-z]+\d+", word))


def names_before(raw: str, start: int) -> bool:
    """Whether a name, a call or an assignment touches the bracket, so that what follows it decides what it is."""
    return start > 0 and (raw[start - 1] in ")(=$_" or (raw[start - 1].isascii() and raw[start - 1].isalnum()))


def interval_end(raw: str, start: int) -> int | None:
    """The end of `[0, 1]` where a word before it says that it is an interval; sources are counted from 1."""
    found = _INTERVAL.match(raw, start)
    if found is None:
        return None
    before = raw[max(0, start - _WINDOW) : start]
    if not _BEFORE_INTERVAL.search(before):
        return None
    told = _TOLD_IN.search(before)
    return None if told is not None and not _RANGES_IN.fullmatch(told.group(1)) else found.end()
