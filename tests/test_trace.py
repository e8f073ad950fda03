"""The trace: what each stage ranked, and why a chunk came back or did not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from langchain_core.documents import Document

from rag_app.retrieve.fusion import Normalization, linear_fusion, reciprocal_rank_fusion, scaling
from rag_app.trace import Ranked, Removal, RetrievalTrace, annotate, rank, trace_of
from rag_app.types import Hit

arms = st.lists(st.dictionaries(st.sampled_from("abcdefgh"), st.floats(-9, 9), min_size=1), min_size=2, max_size=3)


def fused(scores: list[dict[str, float]], normalization: Normalization | None, missing: int | None) -> RetrievalTrace:
    weights = [0.7, 0.3, 0.2][: len(scores)]
    trace = RetrievalTrace("q")
    for place, arm in enumerate(scores):
        trace = trace.add(f"arm{place}", rank(arm))
    parameters: dict[str, object] = {"weights": {f"arm{i}": w for i, w in enumerate(weights)}, "top_k": 2}
    if normalization is None:
        rankings = [[hit.chunk_id for hit in rank(arm)] for arm in scores]
        parameters |= {"k": 60, "missing_rank": missing}
        return trace.add(
            "rrf",
            rank(reciprocal_rank_fusion(rankings, weights=weights, missing_rank=missing)),
            parameters=parameters,
        )
    parameters["scaling"] = {
        f"arm{i}": scaling(arm.values(), normalization).as_parameters() for i, arm in enumerate(scores)
    }
    return trace.add(
        "linear", rank(linear_fusion(scores, weights=weights, normalization=normalization)), parameters=parameters
    )


@given(arms, st.sampled_from([None, "top", "min-max", "max", "z-score", "distribution"]), st.sampled_from([None, 50]))
@settings(max_examples=60)
def test_the_fusion_terms_of_a_chunk_sum_to_its_fused_score(
    scores: list[dict[str, float]], normalization: Normalization | None, missing: int | None
) -> None:
    trace = fused(scores, normalization, missing)
    stage = "rrf" if normalization is None else "linear"
    for hit in trace.rankings[stage]:
        assert sum(trace.fusion_terms(hit.chunk_id, stage).values()) == pytest.approx(hit.score)


def test_ranks_count_from_1_and_ties_break_by_id() -> None:
    assert rank({"b": 1.0, "a": 1.0, "c": 2.0}) == (Hit("c", 2.0, 1), Hit("a", 1.0, 2), Hit("b", 1.0, 3))


def test_explain_says_which_rule_removed_a_chunk() -> None:
    trace = fused([{"a": 3, "b": 2, "c": 1}, {"a": 1}], None, None)
    account = trace.explain("c")
    assert account.removed == Removal("c", "rrf", "beyond top_k", "rank 3 of rrf, and top_k is 2")
    assert account.stages["arm0"] == {"rank": 3, "score": 1.0}
    assert "not among the 1 it ranked" in str(account)
    assert "removed by rrf: beyond top_k" in str(account)
    assert trace.explain("a").removed is None


def test_a_named_removal_of_a_later_stage_is_the_one_that_counts() -> None:
    trace = fused([{"a": 3, "b": 2}], None, None).add(
        "rerank", (), removed=[Removal("b", "rerank", "below threshold", ".1 < .3")]
    )
    assert trace.explain("b").removed == Removal("b", "rerank", "below threshold", ".1 < .3")


def test_adding_to_a_trace_leaves_it_as_it_was() -> None:
    trace = RetrievalTrace("q")
    trace.add("bm25", [Hit("a", 1.0, 1)], warnings=["w"], seconds=1.0)
    assert trace == RetrievalTrace("q")


def test_documents_are_copied_with_their_stages() -> None:
    document = Document(id="a", page_content="x", metadata={"source": "s"})
    trace = RetrievalTrace("q").add("bm25", [Hit("a", 1.5, 1)])
    (copy,) = annotate([document], trace)
    assert copy.metadata == {"source": "s", "stages": {"bm25": {"rank": 1, "score": 1.5}}}
    assert document.metadata == {"source": "s"}


def test_a_plain_list_of_documents_has_the_trace_that_its_metadata_tell() -> None:
    trace = RetrievalTrace("q").add("bm25", [Hit("a", 1.5, 1), Hit("b", 1.0, 2)])
    documents = annotate([Document(id="b", page_content=""), Document(id="a", page_content="")], trace)
    assert trace_of(list(documents), "q").rankings == trace.rankings
    assert trace_of(Ranked(documents, trace)) is trace


def test_the_notebook_table_escapes_what_it_shows() -> None:
    trace = RetrievalTrace("<b>?").add("bm25", [Hit("<a>", 1.5, 1)])
    html = trace._repr_html_()
    assert "&lt;a&gt;" in html
    assert "<b>?" not in html


def test_the_plot_has_one_panel_a_stage() -> None:
    pytest.importorskip("matplotlib")
    figure = fused([{"a": 3, "b": 2}, {"b": 1}], None, None).plot()
    assert [axis.get_title() for axis in figure.axes] == ["arm0", "arm1", "rrf"]


def test_stages_that_are_a_persons_own_are_no_history() -> None:
    for own in ("mine", {"a": 1}, {"a": {"score": None, "rank": 1}}, {"a": {"score": "x", "rank": "y"}}, [1]):
        assert trace_of([Document(page_content="x", id="x", metadata={"stages": own})]).rankings == {}
