"""The packaged model in OpenVINO: torch's vectors within a cosine of .999, without torch."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rag_app.backend import has_bf16
from rag_app.embed import PackagedEmbedder, packaged
from rag_app.embed.packaged import packaged_folder
from rag_app.index import LocalVectorStore
from rag_app.types import ModelError

pytest.importorskip("openvino", reason="OpenVINO is not installed (extra `fast`)")

pytestmark = pytest.mark.model
TEXTS = [
    "The pump stops when the filter is clogged.",
    "cats",
    "A much longer text about valves. " * 40,
    "x" * 3000,
    "",
    "Wie lange gilt die Garantie? 保修期多长?",
]


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(tmp_path_factory.mktemp("kept"))


def cosines(a: Any, b: Any) -> Any:
    return (np.asarray(a, dtype=np.float64) * np.asarray(b, dtype=np.float64)).sum(axis=1)


@pytest.mark.parametrize(("precision", "least"), [("fp32", 0.999999), ("auto", 0.999), ("bf16", 0.999)])
@pytest.mark.parametrize("query", [False, True])
def test_vectors_are_torchs(precision: Any, least: float, query: bool, kept: str) -> None:
    ours = PackagedEmbedder(backend="openvino", precision=precision, cache_dir=kept)
    reference = PackagedEmbedder(backend="torch", precision="fp32")
    assert cosines(ours.encode(TEXTS, query=query), reference.encode(TEXTS, query=query)).min() >= least
    assert str(ours.computed_by).startswith("OpenVINO ")


def test_token_vectors_are_torchs(kept: str) -> None:
    ours = PackagedEmbedder(backend="openvino", cache_dir=kept).token_vectors(TEXTS)
    reference = PackagedEmbedder(backend="torch", precision="fp32").token_vectors(TEXTS)
    for a, b in zip(ours, reference, strict=True):
        assert a.shape == b.shape
        assert not len(a) or cosines(a, b).min() >= 0.99


def test_a_text_has_one_vector_whatever_stands_beside_it(kept: str) -> None:
    embedder = PackagedEmbedder(backend="openvino", cache_dir=kept)
    together = embedder.encode(TEXTS)
    assert cosines(together, np.concatenate([embedder.encode([text]) for text in TEXTS])).min() >= 0.9999
    assert (together == embedder.encode(TEXTS)).all()


def test_threads_and_coroutines_get_what_one_caller_gets(kept: str) -> None:
    embedder = PackagedEmbedder(backend="openvino", cache_dir=kept)
    alone = [embedder.embed_query(text) for text in TEXTS]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(embedder.embed_query, TEXTS * 4)) == alone * 4

    async def ask() -> list[list[float]]:
        return list(await asyncio.gather(*(embedder.aembed_query(text) for text in TEXTS)))

    assert asyncio.run(ask()) == alone


@pytest.mark.skipif(not has_bf16(), reason="the processor multiplies no bf16")
def test_bf16_that_strays_is_refused_and_said(kept: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from rag_app.embed import openvino_bert

    monkeypatch.setattr(openvino_bert, "LEAST_COSINE", 0.99999999)
    encoder = openvino_bert.OpenVINOEncoder(packaged_folder(), max_tokens=256, precision="bf16", cache_dir=kept)
    assert ", fp32, " in encoder.backend
    assert "bf16 was refused: cosine 0.99" in encoder.backend


def test_a_graph_that_is_not_the_model_is_refused_and_torch_computes(
    kept: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rag_app.embed import openvino_bert

    monkeypatch.setattr(openvino_bert, "LEAST_COSINE", 1.5)
    packaged._load.cache_clear()
    told = str(PackagedEmbedder(cache_dir=kept).computed_by)
    with pytest.raises(ModelError, match="does not give what torch gives"):
        PackagedEmbedder(backend="openvino", cache_dir=kept).encode(["a"])
    packaged._load.cache_clear()
    assert told.startswith("torch ")
    assert "OpenVINO does not give what torch gives" in told


def test_a_damaged_reference_is_found_again(tmp_path: Path) -> None:
    from rag_app.embed.openvino_bert import OpenVINOEncoder

    OpenVINOEncoder(packaged_folder(), max_tokens=256, cache_dir=str(tmp_path))
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    file.write_bytes(whole[:100])
    OpenVINOEncoder(packaged_folder(), max_tokens=256, cache_dir=str(tmp_path))
    assert [each.read_bytes() for each in tmp_path.iterdir()] == [whole]


@pytest.mark.parametrize(("built", "searched"), [("torch", "openvino"), ("openvino", "torch")])
def test_an_index_of_one_backend_is_searched_and_grown_with_the_other(
    built: Any, searched: Any, kept: str, tmp_path: Path
) -> None:
    place = str(tmp_path / "index")
    texts = [f"{text[:60]} {i}" for i, text in enumerate(TEXTS)]
    there = PackagedEmbedder(backend=built, cache_dir=kept)
    store = LocalVectorStore.from_texts(texts[:4], there, path=place)
    expected = store.similarity_search_with_score("a clogged filter", k=4)
    store.index.close()
    other = LocalVectorStore(PackagedEmbedder(backend=searched, cache_dir=kept), place)
    found = other.similarity_search_with_score("a clogged filter", k=4)
    assert [document.page_content for document, _ in found] == [document.page_content for document, _ in expected]
    assert [score for _, score in found] == pytest.approx([score for _, score in expected], abs=2e-3)
    other.add_texts(texts[4:])
    assert len(other.similarity_search("a clogged filter", k=9)) == len(texts)


def test_torch_is_not_imported_once_its_vectors_are_kept_and_nobody_is_called(kept: str) -> None:
    """OpenVINO's converter reports to its makers over the network; the graph that is made here does without it."""
    PackagedEmbedder(backend="openvino", cache_dir=kept).encode(["a"])
    program = (
        "import json, sys\n"
        "calls = []\n"
        "watched = ('socket.connect', 'socket.getaddrinfo', 'subprocess.Popen', 'os.fork', 'os.posix_spawn')\n"
        "sys.addaudithook(lambda event, args: calls.append(event) if event in watched else None)\n"
        "from rag_app.embed import PackagedEmbedder\n"
        f"embedder = PackagedEmbedder(backend='openvino', cache_dir={kept!r})\n"
        "rows, tokens = embedder.encode(['a pump']), embedder.token_vectors(['a pump'])\n"
        "heavy = [name for name in ('torch', 'transformers', 'sentence_transformers') if name in sys.modules]\n"
        "print(json.dumps([heavy, calls, len(rows)]))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[], [], 1]
