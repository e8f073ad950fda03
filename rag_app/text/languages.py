"""The commonest function words of some languages: they tell a text's language, and carry little in a query."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from itertools import chain

# Names are Snowball's. Lists are short on purpose: words that fill queries and texts, none that carries a subject.
_WORDS: Mapping[str, str] = {
    "english": (
        "a about after all also an and any are as at be because been before being both but by can could did do "
        "does during each for from had has have he her his how i if in into is it its may might more most must my "
        "no nor not of on or our over she should since so some such than that the their them then there these they "
        "this those through to under was we were what when where whether which while who whom whose why will with "
        "would you your"
    ),
    "german": (
        "aber als am an auch auf aus bei beim bis da dann das dass dem den denn der des dessen die dies diese "
        "dieser dieses doch durch ein eine einem einen einer eines er es für gegen hat haben ich ihr ihre im in "
        "ins ist kann kein keine man mit nach nicht noch nur ob oder ohne sein seine sich sie sind so über um und "
        "unter vom von vor war warum was welche welchem welchen welcher welches wenn wer werden wie wieviel wird "
        "wo wurde wurden zu zum zur zwischen"
    ),
    "french": (
        "à au aux avec ce ces cette comme comment dans de des du elle en est et été être il ils je la le les leur "
        "lui mais ne nous où ou par pas plus pour pourquoi quand que quel quelle quels quelles qui quoi sa sans se "
        "ses son sont sur tout très un une vous"
    ),
    "spanish": (
        "a al como cómo con cual cuál cuando cuándo de del desde donde dónde el ella en entre era es esta este "
        "esto está fue ha hay la las le lo los más muy no o para pero por porque que qué quien quién se ser si sin "
        "sobre son su sus también un una y ya"
    ),
    "italian": (
        "a al alla anche che chi come con cosa da dal dalla dei del della delle di dove e è era gli ha i il in la "
        "le lo ma nel nella non o per perché più quale quali quando quanto questa questo se si sono su tra un una "
        "uno"
    ),
    "portuguese": (
        "a ao aos as com como da das de do dos e é ela ele em entre era foi há isso já mais mas na não nas no nos "
        "o onde os ou para pela pelo por porque qual quais quando que quem se sem seu sua são também um uma"
    ),
    "dutch": (
        "aan als bij dan dat de der deze die dit door een en er had heeft het hij hoe hun ik in is kan maar meer "
        "met naar niet nog of om onder ook op over te tot uit van voor waar waarom was wat welke werd wie worden "
        "wordt ze zich zij zijn zo"
    ),
    "swedish": (
        "att av de den det dig din du där efter ej eller en ett från för ha han har hon hur hvad här i inte jag "
        "kan man med men mot någon nu när och om på sig sin ska som så till under upp ut vad var varför vi vid "
        "vilken vilka är"
    ),
    "danish": (
        "af at blev da de den der det dig din du efter eller en er et for fra han har havde her hun hvad hvem hvor "
        "hvordan hvorfor i ikke jeg kan man med men mod når og også om op på sig sin skal som så til ud var ved vi "
        "være"
    ),
    "norwegian": (
        "av at ble da de den der det deg din du etter eller en er et for fra han har hadde her hun hva hvem hvor "
        "hvordan hvorfor i ikke jeg kan man med men mot når og også om opp på seg sin skal som så til ut var ved "
        "vi være"
    ),
    "finnish": (
        "ei että ennen hän he ja jos joka jotka kanssa koska kuin kuka kun me mikä miksi missä miten mitä mukaan "
        "mutta myös ne niin nyt oli olivat olla on ovat se sekä sen tai tämä vain"
    ),
    "hungarian": (
        "a az azt csak de egy el és ez ezt hogy hol hogyan ha is ki kell lehet meg mert mi miért mikor mint még "
        "milyen nem s sem van vagy volt"
    ),
    "romanian": (
        "a ai al ale care ce cel cine când cu cum de despre din după este fi fost în într la lui mai nu o pe "
        "pentru prin sau se si și sunt un una unde"
    ),
    "turkish": (
        "bir bu da daha de değil gibi göre hangi her için ile kadar kim mi nasıl ne neden nerede o olan olarak "
        "olduğu sonra şu ve veya ya"
    ),
    "russian": (
        "а без бы был была были было в вы для до его ее если есть же за и из или их к как какой какие когда "
        "который кто ли мы на не но о об от по почему при с со так также то только у что чтобы где это я"
    ),
}
LANGUAGES: tuple[str, ...] = tuple(_WORDS)
STOP_WORDS: Mapping[str, frozenset[str]] = {language: frozenset(words.split()) for language, words in _WORDS.items()}
_LANGUAGES_OF: Mapping[str, tuple[str, ...]] = {
    word: tuple(language for language in LANGUAGES if word in STOP_WORDS[language])
    for words in STOP_WORDS.values()
    for word in words
}

_LETTERS = re.compile(r"[^\W\d_]+")
_ASCII_LETTERS = {code: chr(code).lower() if chr(code).isalpha() else " " for code in range(128)}
_SPACELESS = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("russian", re.compile("[\u0400-\u04ff]")),
    ("greek", re.compile("[\u0370-\u03ff]")),
    ("arabic", re.compile("[\u0600-\u06ff]")),
    ("hindi", re.compile("[\u0900-\u097f]")),
    ("tamil", re.compile("[\u0b80-\u0bff]")),
    ("armenian", re.compile("[\u0530-\u058f]")),
)
_WINDOW = 300


def detect_language(text: str, default: str = "english") -> str:
    """The Snowball name of the text's language, told by its function words; "none" when it has no such language.

    Looks at the beginning, the middle and the end, 300 characters each. A text of ASCII letters without a function
    word counts as `default`; one in a script that only few languages use, as the commonest of them.
    """
    if len(text) > 3 * _WINDOW:
        middle = len(text) // 2
        text = " ".join((text[:_WINDOW], text[middle : middle + _WINDOW], text[-_WINDOW:]))
    # Splitting is twice as fast as searching.
    words = text.translate(_ASCII_LETTERS).split() if text.isascii() else _LETTERS.findall(text.casefold())
    if not text.isascii() and len(_SPACELESS.findall(text)) * 4 > sum(map(len, words)):
        return "none"
    counts = Counter(chain.from_iterable(filter(None, map(_LANGUAGES_OF.get, words))))
    if counts:
        # Ties go to the language that stands first in the list.
        best = max(filter(counts.__contains__, LANGUAGES), key=counts.__getitem__)
        if counts[best] * 25 >= len(words):
            return best
    return _by_script(text, words, default)


def _by_script(text: str, words: list[str], default: str) -> str:
    letters = sum(len(word) for word in words)
    if not letters:
        return "none"
    if text.isascii():
        return default
    for language, pattern in _SCRIPTS:
        if len(pattern.findall(text)) * 2 > letters:
            return language
    ascii_letters = sum(len(word) for word in words if word.isascii())
    return default if ascii_letters * 10 >= letters * 9 else "none"
