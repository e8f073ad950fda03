"""What kind of answer a question wants (a number, a date, a name), and whether a sentence has one."""

# ruff: noqa: E501

from __future__ import annotations

import re

_QUESTIONS = (
    (
        "date",
        r"\bwhen\b|\b(?:what|which|in what|in which|on what|on which) (?:year|date|day|month|time|century|decade)\b|\bhow long ago\b|"
        r"\bwann\b|\b(?:welche[mnrs]?|in welchem) (?:jahr|datum|tag|monat)\b|\bseit wann\b|\bbis wann\b|"
        r"\bquand\b|\bquelle (?:année|date)\b|\bcuándo\b|\bqué (?:año|fecha|día)\b|\bquando\b|"
        r"何时|什么时候|哪一?年|哪一?天|几月|几号|いつ|何年|何月",
    ),
    (
        "number",
        r"\bhow (?:many|much|long|old|often|far|big|large|tall|high|deep|heavy|fast|wide|hot|cold|thick|loud|late|early|soon)\b|"
        r"\b(?:what|which) (?:is the |was the |are the |were the |does the |do the )?(?:\w+ ){0,3}?(?:percent(?:age)?|number|amount|price|cost|rate|"
        r"fee|temperature|weight|length|height|width|depth|speed|torque|pressure|voltage|current|power|distance|population|score|ratio|"
        r"size|limit|budget|salary|capacity|efficiency|lead time|version|serial|phone|telephone|hottest|coldest)\b|"
        r"\bwhat (?:does|do|did|may|can|will) .{0,60}\b(?:cost|weigh|pay|owe|measure)\b|"
        r"\bwie ?(?:viele?[nrs]?|lang[e]?|oft|alt|hoch|groß|weit|schwer|schnell|teuer|heiß|tief|breit|laut)\b|\bwas kostet\b|"
        r"\bwelche[nrs]? (?:\w+ )?(?:preis|anzahl|zahl|betrag|temperatur|druck|gewicht|länge|höhe|\w*pegel|\w*nummern?|\w*strom)\b|"
        r"\bcombien\b|\bcuánt[oa]s?\b|\bquant[oiae]\b|多少|几[个次天年岁名]|多[长大高远久重]|百分|いくつ|いくら|何[人個年回]",
    ),
    (
        "person",
        r"\bwho(?:se|m)?\b|\bwer\b|\bwem\b|\bwen\b|\bwessen\b|\bqui\b|\bquién(?:es)?\b|\bchi\b|\bquem\b|谁|誰|哪位",
    ),
    (
        "place",
        r"\bwhere\b|\bwhich (?:country|city|town|state|place)\b|\bwhat (?:country|city|town|state|place)\b|\bwo\b|\bwohin\b|\bwoher\b|"
        r"\boù\b|\bdónde\b|\bdove\b|\bonde\b|哪里|哪儿|何处|どこ|在哪",
    ),
)
_WANTED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _QUESTIONS)
_MONTH = (
    r"jan(?:uary|uar)?|feb(?:ruary|ruar)?|mar(?:ch)?|märz|apr(?:il)?|may|mai|june?|juni|july?|juli|aug(?:ust)?|"
    r"sep(?:t(?:ember)?)?|o[ck]t(?:ober)?|nov(?:ember)?|de[cz](?:ember)?"
)
_DATE = re.compile(
    rf"\b(?:1\d|20)\d\d\b|\b\d{{3,4}} ?(?:bc|ad|ce|v\. ?chr)\b|\b(?:{_MONTH})\b\.? ?\d|\d\.? ?(?:{_MONTH})\b|\b\d{{1,2}}[./-]\d{{1,2}}[./-]\d{{2,4}}\b|"
    r"\b(?:monday|tuesday|wednesday|thursday|friday|saturday|sunday|montags?|dienstags?|mittwochs?|donnerstags?|freitags?|samstags?|sonntags?)\b|"
    r"\b(?:century|decade|jahrhundert|today|yesterday|tomorrow|noon|midnight|a\.?m\.?|p\.?m\.?|uhr|spring|summer|autumn|winter)\b|"
    r"\b(?:first|second|third|fourth|fifth|\d+(?:st|nd|rd|th)) (?:\w+ )?(?:day|week|month|year|hour)s?\b|"
    r"\b(?:after|before|within|until|since|during|nach|vor|seit|bis) \w+|\d+ ?[年月日]|世纪",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fifteen|twenty|thirty|forty|fifty|sixty|hundred|thousand|"
    r"million|billion|dozen|half|third|quarter|twice|once|first|second|both|none|no|single|double|several|percent|daily|weekly|monthly|"
    r"annually|yearly|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|zwanzig|hundert|tausend|millionen?|milliarden?|"
    r"deux|trois|quatre|cinq|sept|huit|neuf|dix|cent|mille|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|ciento|mil)\b|"
    r"[一二三四五六七八九十百千万亿两半]",
    re.IGNORECASE,
)
_CAPITALIZED = re.compile(r"(?<![.!?:\n] )(?<!^)\b[^\W\d_a-zäöüßéèêàáíóúñç][\w’'-]+")
_PAIR = re.compile(r"\b[A-ZÄÖÜÉ][\w’'-]+ (?:[A-Z]\. |(?:von|van|de|da|di|del|la|le|al|bin|der) )?[A-ZÄÖÜÉ][\w’'-]+")
_NO_NAME_WORDS = (
    "gmbh inc ltd llc ag corp co company plc the a an in on at i we it this that march april may june july august january "
    "february september october november december monday tuesday wednesday thursday friday saturday sunday"
)
_NO_NAMES = frozenset(_NO_NAME_WORDS.split())
_CJK = re.compile(r"[\u3040-\u9fff\uac00-\ud7af]")


def expected(question: str) -> str | None:
    """The kind of answer the question wants: date | number | person | place, None when it wants something else."""
    return next((kind for kind, pattern in _WANTED if pattern.search(question)), None)


def has_kind(sentence: str, kind: str, question: str) -> bool:
    """Whether the sentence has something of this kind that the question has not itself."""
    if kind == "number":
        return any(match.group() not in question for match in _numbers(sentence))
    if kind == "date":
        asked = question.casefold()
        return any(match.group().casefold() not in asked for match in _DATE.finditer(sentence))
    if _CJK.search(sentence):
        return True
    asked_words = set(re.findall(r"\w+", question.casefold()))
    found = [*_PAIR.findall(sentence), *_CAPITALIZED.findall(sentence)]
    return any(set(re.findall(r"\w+", name.casefold())) - asked_words - _NO_NAMES for name in found)


def _numbers(sentence: str) -> list[re.Match[str]]:
    return list(re.finditer(r"\d[\d.,]*", sentence)) or list(_NUMBER.finditer(sentence))
