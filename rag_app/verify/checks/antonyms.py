"""Antonyms and direction: the claim has a word, the same place of the source its opposite."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from functools import cache

from rag_app.types import Check
from rag_app.verify.checks.base import ABOUT, Aligned
from rag_app.verify.checks.negators import is_negator
from rag_app.verify.words import Word, is_function_word, stem

_PAIRS = """
above/below accept/reject|refuse|decline add/remove|subtract agree/disagree alive/dead
allow/forbid|prohibit|ban|prevent always/never|rarely|sometimes appear/disappear approve/reject arrive/depart|leave
ascend/descend attack/defend beautiful/ugly before/after begin/end|finish better/worse best/worst big/small|little
birth/death bottom/top bright/dark buy/sell child/adult clean/dirty close/open cold/hot|warm common/rare|uncommon
complex/simple connect construct/destroy create/destroy cheap/expensive decrease/increase|rise|grow deep/shallow
defeat/victory deny/admit|confirm different/same|similar difficult/easy direct/indirect domestic/foreign|international
down/up dry/wet dead/living early/late east/west eastern/western empty/full enable/disable encourage/discourage
enter/exit|leave exclude/include export/import external/internal fail/succeed|pass fall/rise false/true|correct
fast/slow female/male few/many fewer/more first/last former/latter forward/backward free/captive gain/lose|loss
give/take good/bad great/small grow/shrink guilty/innocent happy/sad hard/soft|easy harmful/beneficial|harmless
healthy/sick|unhealthy heavy/light high/low higher/lower husband/wife illegal/legal improve/worsen inferior/superior
inside/outside join/leave junior/senior large/small larger/smaller left/right legal/unlawful less/more long/short
longer/shorter lose/win loss/profit|gain loud/quiet love/hate lower/raise major/minor majority/minority man/woman
maximum/minimum most/least maximize/minimize merge/split negative/positive new/old newer/older night/day north/south
northern/southern offer/refuse older/younger oldest/youngest optional/required part/whole permanent/temporary
poor/rich popular/unpopular possible/impossible praise/criticize present/absent prevent/cause private/public
probable/improbable promote/demote protect/endanger push/pull raise/lower reduce/increase|raise regular/irregular
reject/approve remember/forget rural/urban safe/dangerous|unsafe same/different save/spend|waste send/receive
separate/together shallow/deep start/end|stop|finish strength/weakness strong/weak stronger/weaker succeed/fail
success/failure support/oppose sweet/sour tall/short thick/thin tighten/loosen true/untrue under/over upper/lower
urban/rural vertical/horizontal victory/defeat visible/invisible wide/narrow win/loss with/without within/outside
young/old yes/no activate/deactivate inhibit active/inactive acute/chronic able/unable upward/downward
upstream/downstream accelerate/slow|decelerate expand/contract|shrink strengthen/weaken hired/fired employ/dismiss
borrow/lend all/none later/earlier won/lost largest/smallest highest/lowest longest/shortest rose/fell mother/father
son/daughter brother/sister king/queen uncle/aunt boy/girl bigger/smaller wider/narrower faster/slower hotter/colder
easier/harder gained/lost bought/sold gave/took sent/received began/ended opened/closed rises/falls grew/shrank
cheaper/pricier widely/rarely often/rarely|seldom frequently/rarely|infrequently necessary/unnecessary|optional
likely/unlikely
stieg/sank|fiel stiegen/sanken|fielen steigt/sinkt|fällt gestiegen/gesunken|gefallen erhöht/gesenkt|verringert
zunahme/abnahme höher/niedriger größer/kleiner gewonnen/verloren geöffnet/geschlossen erlaubt/verboten
augmenté/diminué|baissé augmente/diminue|baisse ouvert/fermé gagné/perdu autorisé/interdit supérieur/inférieur
aumentó/disminuyó|bajó subió/bajó subieron/bajaron aumentaron/disminuyeron|bajaron aumenta/disminuye|baja
sube/baja suben/bajan abierto/cerrado ganó/perdió permitido/prohibido
"""


_PREFIXES = frozenset(["un", "in", "im", "il", "ir", "dis", "non"])


@cache
def opposites() -> dict[str, frozenset[str]]:
    """Each stem with the stems that say the opposite, both ways."""
    table: defaultdict[str, set[str]] = defaultdict(set)
    for pair in _PAIRS.split():
        if "/" not in pair:
            continue
        left, right = pair.split("/")
        for other in right.split("|"):
            table[stem(left)].add(stem(other))
            table[stem(other)].add(stem(left))
    return {word: frozenset(others) for word, others in table.items()}


def check_antonyms(aligned: Aligned) -> Iterator[Check]:
    """Fail where the source has the opposite in the place of a word of the claim: same neighbor, and neither side has
    the other's word or a negator that turns it round.
    """
    if aligned.support.coverage < ABOUT:
        return
    there = {word.stem for word in aligned.window}
    opposite: dict[str, list[int]] = {}
    said: dict[int, bool] = {}
    if compared(aligned.words, aligned.best):
        return
    for index, word in enumerate(aligned.words):
        if word.stem in there or len(word.stem) < 2:
            continue
        if word.stem not in opposite:
            places = enumerate(aligned.window)
            opposite[word.stem] = [place for place, other in places if are_opposite(word.stem, other.stem)]
        for place in opposite[word.stem]:
            other = aligned.window[place]
            if not shares_neighbor(aligned.words, index, aligned.window, place):
                continue
            if place not in said:
                said[place] = _said_too(aligned, other.stem, place)
            if said[place]:
                break
            turned = _negated_near(aligned.words, index) != _negated_near(aligned.window, place)
            yield aligned.check("antonym", "pass" if turned else "fail", word.span, other.span)
            break


def are_opposite(a: str, b: str) -> bool:
    """Do two stems say the opposite: by the table, or by a negative prefix on one of them?"""
    if b in opposites().get(a, frozenset()):
        return True
    if abs(len(a) - len(b)) not in (2, 3) or min(len(a), len(b)) < 4:
        return False
    longer, shorter = (a, b) if len(a) > len(b) else (b, a)
    return longer.endswith(shorter) and longer.removesuffix(shorter) in _PREFIXES


def _said_too(aligned: Aligned, opposite: str, place: int) -> bool:
    """Does the claim itself have the source's word at the same place ("from a lower to a higher rate")?"""
    return any(
        word.stem == opposite and shares_neighbor(aligned.words, index, aligned.window, place)
        for index, word in enumerate(aligned.words)
    )


def compared(ours: tuple[Word, ...], theirs: tuple[Word, ...]) -> bool:
    """Do both compare, with other words behind "than" ("more than B", "less than A")? Then the turn may be right."""
    left, right = _behind_than(ours), _behind_than(theirs)
    return bool(left and right) and left != right


def _behind_than(words: tuple[Word, ...]) -> list[str]:
    for index, word in enumerate(words):
        if word.text.casefold() == "than":
            return [other.text.casefold() for other in words[index + 1 : index + 4]]
    return []


def shares_neighbor(ours: tuple[Word, ...], index: int, theirs: tuple[Word, ...], place: int) -> bool:
    """Do both words have a content word in common within a few words of them?"""
    return bool(_near(ours, index) & _near(theirs, place))


def _near(words: tuple[Word, ...], place: int, reach: int = 4) -> set[str]:
    around = (*words[max(0, place - reach) : place], *words[place + 1 : place + 1 + reach])
    return {word.stem for word in around if not is_function_word(word.stem)}


def _negated_near(words: tuple[Word, ...], index: int) -> bool:
    return any(is_negator(word) for word in words[max(0, index - 3) : index])
