"""Inverted lists: built from texts, merged from several."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rag_app.index.local.container import Strings, pack
from rag_app.index.local.postings import Postings, build_postings, merge_postings

texts = st.lists(st.lists(st.sampled_from("abcdef"), max_size=6).map(" ".join), max_size=6)


def built(rows: list[str]) -> Postings:
    return build_postings([(text, "none") for text in rows], lambda pieces, _: [[piece] for piece in pieces])


def as_lists(postings: Postings) -> dict[bytes, list[tuple[int, int]]]:
    pairs = list(zip(postings.rows.tolist(), postings.counts.tolist(), strict=True))
    edges = postings.indptr.tolist()
    return {term: pairs[edges[i] : edges[i + 1]] for i, term in enumerate(postings.terms)}


def test_a_term_lists_its_rows_in_order_with_how_often_each_has_it() -> None:
    postings = built(["b a b", "", "a c"])
    assert as_lists(postings) == {b"a": [(0, 1), (2, 1)], b"b": [(0, 2)], b"c": [(2, 1)]}
    assert postings.lengths.tolist() == [3, 0, 2]


@given(st.lists(texts, max_size=3), st.integers(1, 9), st.randoms(use_true_random=False))
def test_merged_lists_are_those_of_a_build_of_the_live_rows_however_many_terms_a_block_takes(
    groups: list[list[str]], block: int, chance: object
) -> None:
    rows = [(p, row) for p, group in enumerate(groups) for row in range(len(group))]
    chance.shuffle(rows)  # type: ignore[attr-defined]
    live = rows[: len(rows) * 2 // 3]
    parts = []
    for p, group in enumerate(groups):
        moved = np.full(len(group), -1, dtype=np.int64)
        for new, (q, row) in enumerate(live):
            if p == q:
                moved[row] = new
        own = built(group)
        parts.append((Strings(*pack(own.terms)), own.indptr, own.rows, own.counts, moved))
    expected = built([groups[p][row] for p, row in live])
    assert as_lists(merge_postings(parts, expected.lengths, block=block)) == as_lists(expected)
