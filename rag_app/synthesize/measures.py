"""What a number is a number of: money, time, a share, heat, weight, length, a telephone; as a question asks for it and a sentence gives it."""

# ruff: noqa: E501

from __future__ import annotations

import re

_ASKS = (
    (
        "money",
        r"\bcosts?\b|\bprices?\b|\bfees?\b|\bfares?\b|\bhow much .{0,40}\bpay\b|\bwhat .{0,20}\bpay\b|\bsalary\b|\bbudget\b|\bspend\b|\bexpensive\b|\brent\b|"
        r"\bdeposit\b|\bkoste[tn]?\b|\bpreis\w*|\bgebühr\w*|\bteuer\b|\bgehalt\b|\bmiete\b|\w+geld\b|\bcoûte|\bprix\b|\bcuesta|\bprecio\b|钱|价格|费用",
    ),
    (
        "time",
        r"\bhow (?:long|soon|quickly)\b|\bhow (?:many|much) (?:\w+ )?(?:seconds|minutes|hours|days|weeks|months|years|time|notice)\b|"
        r"\blead time\b|\bduration\b|\bwie ?lang\w*|\bwie viele? (?:\w+ )?(?:sekunden|minuten|stunden|tage|wochen|monate|jahre|zeit)\b|\bdauert?\b|多久|多长时间",
    ),
    (
        "share",
        r"\bpercent(?:age)?\b|\befficiency\b|\bdiscount\b|\bprozent\w*|\banteil\b|\bwirkungsgrad\b|\brabatt\b|百分",
    ),
    (
        "heat",
        r"\btemperature\b|\bhow (?:hot|cold|warm)\b|\b(?:hott|cold|warm)est\b|\w*temperatur\b|\bwie (?:heiß|kalt|warm)\b|温度",
    ),
    ("length", r"\bhow (?:tall|deep|wide|thick)\b|\bwie (?:tief|breit|dick)\b|\btiefgang\b"),
    ("phone", r"\b(?:tele)?phone number\b|\btelefonnummer\b|\brufnummer\b|电话号码"),
    ("weight", r"\bhow heavy\b|\bweighs?\b|\bweight\b|\bwie schwer\b|\bgewicht\b|\bwieg[et]\w*|\bwiegen\b|重量|多重"),
)
_ONES = r"one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|ninety|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|zwölf"
_N = rf"(?:\d[\d.,]*|\b(?:{_ONES}))"
_TIME = (
    r"(?:s|secs?|seconds?|min|mins?|minutes?|h|hrs?|hours?|days?|weeks?|months?|years?|decades?|centur(?:y|ies)|sekunden?|minuten?|"
    r"stunden?|tag(?:en?)?|wochen?|monat(?:en?|s)?|jahre?n?)\b"
)
_GIVES = {
    "money": rf"[$€£¥] ?(?P<a>{_N})|(?P<b>{_N}) ?(?:[€£¥元]|(?:usd|eur|euros?|dollars?|cents?|pounds?|francs?|chf|yen|rupees?)\b)|"
    rf"(?:price|cost|fee|fare|preis|_usd|_eur)\w*:? (?P<c>{_N})",
    "time": rf"(?P<a>{_N})(?:[ -][\w()/-]+)?[ -]{_TIME}|(?P<b>{_N}) ?(?:[年月日天]|小时|分钟)|\bnet (?P<c>\d+)",
    "share": rf"(?P<a>{_N}) ?(?:%|(?:per ?cent|prozent)\b)|百分之(?P<b>{_N})",
    "heat": rf"(?P<a>{_N}) ?(?:°|degrees?\b|grad\b|度)",
    "length": rf"(?P<a>{_N})[ -]?(?:[mck]?m|ft|\w*met(?:er|re)[ns]?|miles?|feet|foot|inch(?:es)?|yards?|zoll)\b|(?P<b>{_N}) ?[米\"'′″]",
    "phone": r"(?P<a>\+?\d(?:[ /().-]{0,2}\d){5,})",
    "weight": rf"(?P<a>{_N}) ?(?:kg|g|mg|t|lbs?|oz|tons?|tonnes?|tonnen|pounds?|kilos?|kilograms?|grams?|gramm|kilogramm)\b|weight\w*:? (?P<b>{_N})",
}
_ASKED = tuple((kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in _ASKS)
_GIVEN = {kind: re.compile(pattern, re.IGNORECASE) for kind, pattern in _GIVES.items()}


def measure_of(question: str) -> str | None:
    """money | time | share | heat | length | phone | weight, None when the question asks for none of them."""
    return next((kind for kind, pattern in _ASKED if pattern.search(question)), None)


def numbers_with(text: str, measure: str) -> list[str]:
    """The numbers of `text` that stand with a unit of this measure, as they are written."""
    return [next(value for value in match.groupdict().values() if value) for match in _GIVEN[measure].finditer(text)]
