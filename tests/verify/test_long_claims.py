"""Long claims cost what their length says: the work is counted in bytecodes, which no clock can disturb."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from rag_app.verify.lexical import LexicalVerifier, Thresholds

SOURCE = (
    "The ferry to Skerry Island leaves twice a day and takes 40 bicycles. It does not run on 3 May 2019, said "
    '"the harbor master of the island" to Ada. All boats of the island are new.'
)
DAM = "这座大坝于1958年建成，不开放。大坝蓄水5,000,000立方米。"
PIECES = [
    ("The ferry takes 40 bicycles and ", SOURCE), ("two hundred ", SOURCE), ("the ferry does not run, ", SOURCE),
    ("the old boats of the island, ", SOURCE), ("Ada called Skerry ", SOURCE), ("3 May 2019 and ", SOURCE),
    ('"The harbor master of the island" said Ada ', SOURCE), ("all boats of the island ", SOURCE),
    ("two thirds of 8 minutes, ", SOURCE), ("大坝不开放五百万", DAM), ("The ferry takes 40 bicycles and ", None),
]  # fmt: skip


def bytecodes(run: Callable[[], object]) -> int:
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        count += event == "opcode"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return count


@pytest.mark.parametrize(("piece", "source"), PIECES)
def test_a_claim_four_times_as_long_is_about_four_times_the_work(piece: str, source: str | None) -> None:
    verifier = LexicalVerifier(Thresholds.default())
    short, long = piece * 15, piece * 60
    for claim in (short, long):  # what is kept (stems, sources) is read before anything is counted
        verifier.verify_claim(claim, [source or claim])
    few, many = (bytecodes(lambda c=claim: verifier.verify_claim(c, [source or c])) for claim in (short, long))
    assert many < 7 * few
