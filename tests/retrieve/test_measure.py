"""Self-retrieval on a small corpus: sentences taken out, ranks found, the same every time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from langchain_core.documents import Document
from pydantic import PrivateAttr

from rag_app.embed import HashingEmbedder
from rag_app.index import IndexSettings, LocalIndex
from rag_app.retrieve.measure import held_out, measure_arms
from rag_app.text import Analyzer
from rag_app.types import LoadedDocument

THINGS = "pump valve filter lever hose motor switch cable panel sensor tank gauge".split()  # noqa: SIM905


def corpus(index: Any, count: int = 24) -> Any:
    texts = {}
    for n in range(count):
        name = f"{THINGS[n % 12]} {THINGS[n * 5 % 7]}"
        texts[f"{n:02d}.txt"] = (
            f"The {name} stands in the big hall of the mill. Service of the {name} takes several hours each time. "
            f"Call the team when the {name} fails again."
        )
    return type(index)(texts)


def test_a_sentence_is_taken_out_of_the_middle_of_its_chunk(index: Any) -> None:
    held = held_out(corpus(index), 10)
    assert len(held) == 10
    for each in held:
        assert each.sentence.startswith("Service of")
        assert each.sentence not in each.rest
        start = each.chunk.metadata["start_index"]
        assert each.chunk.page_content[each.span.start - start : each.span.end - start] == each.sentence


def test_both_arms_are_measured_the_same_every_time(index: Any) -> None:
    made = corpus(index)
    found = measure_arms(made)
    assert found == measure_arms(made)
    assert (found["sentences"], found["chunks"]) == (24, 24)
    assert 0 < found["bm25_mrr"] <= 1
    assert 0 < found["dense_mrr"] <= 1
    assert found["ratio"] > 0
    assert found["pieces_per_word"] > 0


def test_a_corpus_too_small_has_no_ratio(index: Any) -> None:
    found = measure_arms(corpus(index, 5))
    assert found["ratio"] is None
    assert found["pieces_per_word"] > 0


def test_an_empty_index_can_be_measured(index: Any) -> None:
    empty = type(index)({"a.txt": "word"})
    empty.chunks.clear()
    assert measure_arms(empty)["sentences"] == 0


def test_code_and_tables_do_not_make_a_known_language_look_unknown() -> None:
    from rag_app.retrieve.measure import _pieces_per_word

    def count(text: str) -> int:  # a tokenizer like BERT's: words and marks are tokens, two special ones around them
        import re

        return 2 + len(re.findall(r"\w+|[^\w\s]", text))

    assert _pieces_per_word(["run the tests"], count) == 1.0
    assert _pieces_per_word(["| run | the | tests | `--all` (*) |"], count) == 1.0


def local(path: Path, embedder: HashingEmbedder, settings: IndexSettings | None = None) -> LocalIndex:
    with LocalIndex.create(path, embedder=embedder, settings=settings) as index:
        for n in range(24):
            text = (
                f"The {THINGS[n % 12]} number {n} stands in the hall of the mill. Service of number {n} takes several "
                f"hours each time. Call the team when number {n} fails again."
            )
            document = LoadedDocument(id=f"d{n}", page_content=text, metadata={"source": f"{n}.txt"})
            chunk = Document(id=f"d{n}:0-{len(text)}", page_content=text, metadata={"start_index": 0})
            index.upsert(document, [chunk])
    return index


class Spaces(Analyzer):
    """Words are what stands between spaces."""

    def index_terms(self, text: str, *, language: str) -> list[str]:
        return text.split()

    def query_terms(self, text: str, *, languages: Sequence[str]) -> dict[str, int]:
        return dict(Counter(text.split()))


def test_an_index_with_an_analyzer_of_another_class_is_measured_by_it(tmp_path: Path) -> None:
    found = measure_arms(local(tmp_path / "i", HashingEmbedder(), IndexSettings(analyzer=Spaces())))
    assert found["sentences"] == 24
    assert found["bm25_mrr"] == 1  # the number stands in what is left of each chunk


def test_a_passage_that_a_server_refuses_for_a_moment_is_sent_again(tmp_path: Path) -> None:
    class Busy(HashingEmbedder):
        retry_waits: ClassVar[tuple[float, ...]] = (0.0,)
        _failures: int = PrivateAttr(default=0)

        def _encode(self, texts: Sequence[str], *, query: bool) -> Any:
            if not query and self._failures:
                self._failures -= 1
                raise TimeoutError("busy")
            return super()._encode(texts, query=query)

    embedder = Busy()
    index = local(tmp_path / "i", embedder)
    expected = measure_arms(index)
    embedder._failures = 1
    assert measure_arms(index) == expected
    assert embedder._failures == 0
