"""What a verifier's policy leaves of a draft keeps the citations that it had."""

from __future__ import annotations

from dataclasses import replace

from langchain_core.documents import Document

from rag_app.pipeline.chain import after_policy
from rag_app.synthesize.base import draft_of
from rag_app.verify import Verifier

EVIDENCE = [
    Document("The MX-400 weighs 12 kg. It is painted blue. The pump is tested twice.", id="a:0-70", metadata={}),
    Document("The MX-400 weighs 14 kg. It comes in a box.", id="b:0-43", metadata={}),
]
TEXT = "The MX-400 weighs 12 kg [1]. The MX-400 weighs 19 kg [2]. The sources disagree [1][2]."


def test_a_marker_that_still_stands_keeps_its_citation() -> None:
    draft = draft_of("How heavy is it?", TEXT, EVIDENCE)
    placed = tuple(replace(citation, section_path=("Data", str(citation.marker))) for citation in draft.citations)
    draft = replace(draft, citations=placed)
    report = Verifier(policy="remove").invoke({"text": TEXT, "documents": EVIDENCE})
    left = after_policy(draft, report)
    assert left.text == "The MX-400 weighs 12 kg [1]. The sources disagree [1][2]."
    assert left.citations == placed


def test_a_marker_that_is_gone_takes_its_citation_with_it() -> None:
    text = TEXT.removesuffix(" The sources disagree [1][2].")
    draft = draft_of("How heavy is it?", text, EVIDENCE)
    report = Verifier(policy="remove").invoke({"text": text, "documents": EVIDENCE})
    left = after_policy(draft, report)
    assert [citation.marker for citation in left.citations] == [1]
