"""The answer beside its sources as one HTML fragment: claims colored by verdict, hover shows values and spans."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rag_app.types import Citation, Evidence, Verdict

if TYPE_CHECKING:
    from rag_app.answer import Answer

COLORS = {
    "supported": "#d7f0dd",
    "partially_supported": "#fdf0c8",
    "contradicted": "#f9d3d0",
    "not_found": "#ece6f5",
    "not_checkable": "#eeeeee",
}
_STYLE = (
    "<style>.rag-report{display:flex;gap:1.5em;font:14px/1.5 system-ui,sans-serif;color:#222}"
    ".rag-report>div{flex:1;min-width:0}.rag-report pre{white-space:pre-wrap;font:inherit;margin:0}"
    ".rag-report mark{color:inherit;border-radius:3px;padding:0 1px}.rag-report h4{margin:.2em 0}"
    ".rag-report section{margin-bottom:1em}.rag-legend span{padding:0 .5em;margin-right:.5em;border-radius:3px}</style>"
)


def report_html(
    text: str,
    verdicts: Sequence[Verdict],
    passages: Sequence[tuple[str, str, int]] = (),
    *,
    title: str = "",
    withdrawn: bool | str = False,
) -> str:
    """One self-contained fragment: `text` with its claims marked on the left, the passages on the right.

    `passages` are (name, text, start of the text in its document), numbered from 1 as the answer's markers are. Where
    `text` took the place of another, which is `withdrawn`, the claims are marked in that one, below. Where it is not
    known any more (True), and for claims whose span does not lie in `text`, the claims are listed. All of the input is
    escaped.
    """
    if isinstance(withdrawn, str) and withdrawn:
        below = f"<h4>Withdrawn</h4><pre>{_claims(withdrawn, verdicts)}</pre>"
        return _page(_claims(text, ()), below, verdicts, passages, title)
    gone = [v for v in verdicts if withdrawn or v.claim.span.end > len(text)]
    standing = [] if withdrawn else [v for v in verdicts if v.claim.span.end <= len(text)]
    listed = "".join(f"<li>{_mark(v.claim.text, v.label, tooltip(v))}</li>" for v in gone)
    below = f"<h4>Withdrawn</h4><ul>{listed}</ul>" if listed else ""
    return _page(_claims(text, standing), below, verdicts, passages, title)


def _claims(text: str, verdicts: Sequence[Verdict]) -> str:
    return _marked(text, [(v.claim.span.start, v.claim.span.end, v.label, tooltip(v)) for v in verdicts])


def _page(
    left: str, below: str, verdicts: Sequence[Verdict], passages: Sequence[tuple[str, str, int]], title: str
) -> str:
    right = "".join(_passage(number, passage, verdicts) for number, passage in enumerate(passages, start=1))
    heading = f"<h3>{html.escape(title)}</h3>" if title else ""
    legend = "".join(
        f'<span style="background:{color}">{label.replace("_", " ")}</span>' for label, color in COLORS.items()
    )
    return (
        f'{_STYLE}{heading}<div class="rag-legend">{legend}</div><div class="rag-report">'
        f"<div><h4>Answer</h4><pre>{left}</pre>{below}</div><div><h4>Sources</h4>{right}</div></div>"
    )


def tooltip(verdict: Verdict) -> str:
    """What hovering a claim shows: label, score, level, and each check with both values and both spans."""
    lines = [f"{verdict.label.replace('_', ' ')} ({verdict.score:.2f}, {verdict.level})"]
    if verdict.reason:
        lines.append(verdict.reason)
    for check in verdict.checks:
        ours = f'claim "{check.claim_value}"' + (
            f" [{check.claim_span[0]}:{check.claim_span[1]}]" if check.claim_span else ""
        )
        theirs = "nothing in the source"
        if check.source_value is not None:
            theirs = f'source "{check.source_value}"'
            theirs += f" [{check.evidence_span[0]}:{check.evidence_span[1]}]" if check.evidence_span else ""
        lines.append(f"{check.name} {check.outcome}: {ours}, {theirs}")
    if verdict.suggested_citations:
        lines.append("better cited: " + ", ".join(f"[{number}]" for number in verdict.suggested_citations))
    return "\n".join(lines)


def _passage(number: int, passage: tuple[str, str, int], verdicts: Sequence[Verdict]) -> str:
    name, text, start = passage
    places = [
        (e.start - start, e.end - start, v.label, v.claim.text)
        for v in verdicts
        for e in v.evidence[:1]
        if _is_of(e, name, text, start)
    ]
    return f"<section><h4>[{number}] {html.escape(name)}</h4><pre>{_marked(text, places)}</pre></section>"


def _is_of(evidence: Evidence, name: str, text: str, start: int) -> bool:
    low, high = evidence.start - start, evidence.end - start
    return evidence.source == name and 0 <= low <= high <= len(text) and text[low:high] == evidence.text


def _marked(text: str, places: Sequence[tuple[int, int, str, str]]) -> str:
    """The escaped text with its places marked; where places overlap the earlier wins, the later keeps its rest."""
    pieces: list[str] = []
    position = 0
    for start, end, label, hover in sorted(places):
        first, last = max(start, position), min(end, len(text))
        if first >= last:
            continue
        pieces.append(html.escape(text[position:first]))
        pieces.append(_mark(text[first:last], label, hover))
        position = last
    return "".join(pieces) + html.escape(text[position:])


def _mark(text: str, label: str, hover: str) -> str:
    color = COLORS.get(label, "#eeeeee")
    return f'<mark style="background:{color}" title="{html.escape(hover, quote=True)}">{html.escape(text)}</mark>'


def answer_html(answer: Answer) -> str:
    """The fragment for an Answer: its text and claims beside its numbered evidence, the citations below."""
    passages = [(passage.source, passage.text, passage.start) for passage in answer.evidence]
    withdrawn = _is_withdrawn(answer) and (str(answer.report.get("withdrawn") or "") or True)
    report = report_html(answer.text, answer.verdicts, passages, title=answer.question, withdrawn=withdrawn)
    return report + _how_sure(answer) + _citations(answer.citations)


def answer_page(answer: Answer) -> str:
    """The evidence report: a whole HTML page that stands alone, without scripts and without the network."""
    title = html.escape(answer.question)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title></head>'
        f"<body>{answer_html(answer)}</body></html>\n"
    )


def _is_withdrawn(answer: Answer) -> bool:
    """Whether the verdicts, and the confidence with them, are of a text that the abstention took the place of."""
    after_verdicts = answer.abstention_reason in ("below_threshold", "claims_unsupported")
    return after_verdicts and any(verdict.claim.kind == "factual" for verdict in answer.verdicts)


def _how_sure(answer: Answer) -> str:
    if answer.confidence is None:
        return ""
    what = "how sure"
    if answer.abstained:
        what = "how sure of what was withdrawn" if _is_withdrawn(answer) else "its evidence answers"
    return f'<p class="rag-confidence">{what}: {answer.confidence:.2f}</p>'


def _citations(citations: Sequence[Citation]) -> str:
    rows = "".join(
        f"<tr><td>[{citation.marker}]</td><td>{html.escape(_place(citation))}</td>"
        f"<td>{html.escape(citation.quote)}</td></tr>"
        for citation in citations
    )
    return f'<table class="rag-citations"><tbody>{rows}</tbody></table>' if rows else ""


def _place(citation: Citation) -> str:
    page = [f"page {citation.page}"] if citation.page else []
    return ", ".join([citation.source, *page, *citation.section_path[-1:]])
