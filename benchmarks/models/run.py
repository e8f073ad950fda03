"""The packaged embedder and cross-encoders beside their references: speed in ratios, and how far they agree.

    OMP_NUM_THREADS=1 python benchmarks/models/run.py                     # embedding and reranking, a random model
    OMP_NUM_THREADS=1 python benchmarks/models/run.py --reranker FOLDER   # a trained cross-encoder
    OMP_NUM_THREADS=1 python benchmarks/models/run.py --cold              # loading, in fresh processes

Each round asks every contender once, in turn; medians over the rounds, CPU time and wall time; with one thread the CPU
time is what a quiet machine's clock would show. Documents are windows of this repository's prose, sorted by length as
every contender sorts them. The random cross-encoder has the shape of ms-marco-MiniLM-L-6-v2: the packaged encoder under
a classifier with random weights. Prints JSON lines and a table of ratios (the reference's time over ours).
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
WORDS = 115  # about 128 tokens
PASSAGE_WORDS = 165  # about 200 tokens with the question
COLD = {
    "sentence-transformers": "from sentence_transformers import SentenceTransformer as S; S({folder!r}).encode(['a'])",
    "torch": "from rag_app.embed import PackagedEmbedder as P; P(backend='torch').encode(['a'])",
    "OpenVINO": "from rag_app.embed import PackagedEmbedder as P; P(backend='openvino').encode(['a'])",
}


def prose(count: int, words: int, seed: int) -> list[str]:
    """Windows of this repository's words (code has more tokens to a word), of half to one and a half times so many."""
    files = sorted((ROOT / "rag_app").rglob("*.py")) + sorted(ROOT.glob("*.md"))
    text = [word for file in files for word in file.read_text(encoding="utf-8").split() if word.isalpha()]
    chance = random.Random(seed)
    sizes = [chance.randint(words // 2, words * 3 // 2) for _ in range(count)]
    return [" ".join(text[(at := chance.randrange(len(text) - size)) : at + size]) for size in sizes]


def rounds(contenders: dict[str, Callable[[], Any]], count: int) -> dict[str, tuple[float, float]]:
    """Median (CPU, wall) seconds of each, asked in turn; once before, unmeasured."""
    for call in contenders.values():
        call()
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in contenders}
    for turn in range(count):
        names = list(contenders)
        for name in names[turn % len(names) :] + names[: turn % len(names)]:
            wall, cpu = time.perf_counter(), time.process_time()
            contenders[name]()
            taken[name].append((time.process_time() - cpu, time.perf_counter() - wall))
    return {name: (median(c for c, _ in times), median(w for _, w in times)) for name, times in taken.items()}


def report(what: str, times: dict[str, tuple[float, float]], reference: str, **facts: dict[str, float]) -> None:
    """One JSON line for each contender, with ratios to the reference."""
    for name, (cpu, wall) in times.items():
        row = {"what": what, "who": name, "cpu_ms": round(cpu * 1000, 2), "wall_ms": round(wall * 1000, 2)}
        row["ratio_cpu"] = round(times[reference][0] / cpu, 2)
        row["ratio_wall"] = round(times[reference][1] / wall, 2)
        row |= {key: values[name] for key, values in facts.items() if name in values}
        print(json.dumps(row))
        ROWS.append(row)


ROWS: list[dict[str, Any]] = []


def embedding(count: int, repeats: int) -> None:
    """Documents and one short query: sentence-transformers in fp32 against the packaged embedder's ways."""
    import torch
    from sentence_transformers import SentenceTransformer

    from rag_app.backend import thread_count
    from rag_app.embed import PackagedEmbedder
    from rag_app.embed.packaged import packaged_folder

    torch.set_num_threads(thread_count())
    reference = SentenceTransformer(str(packaged_folder()), device="cpu")
    ways = {
        f"{backend} {precision}": PackagedEmbedder(backend=backend, precision=precision)
        for backend in ("torch", "openvino")
        for precision in ("fp32", "bf16")
    }
    texts, queries = prose(count, WORDS, 1), prose(16, 8, 2)
    tokens = [ways["torch fp32"].count_tokens(text) for text in texts]
    print(json.dumps({"documents": count, "mean_tokens": round(float(np.mean(tokens)), 1), "threads": thread_count()}))

    def theirs(some: Sequence[str]) -> Any:
        return reference.encode(list(some), batch_size=32, normalize_embeddings=True, show_progress_bar=False)

    contenders: dict[str, Callable[[Sequence[str]], Any]] = {"sentence-transformers fp32": theirs}
    contenders |= {name: embedder.encode for name, embedder in ways.items()}
    exact = np.asarray(theirs(texts), dtype=np.float64)
    cosines = {name: round(float((exact * call(texts)).sum(axis=1).min()), 6) for name, call in contenders.items()}
    times = rounds({name: lambda call=call: call(texts) for name, call in contenders.items()}, repeats)
    speed = {name: round(count / cpu, 1) for name, (cpu, _) in times.items()}
    report("documents", times, "sentence-transformers fp32", texts_per_cpu_s=speed, least_cosine=cosines)
    each = {name: lambda call=call: [call([q]) for q in queries] for name, call in contenders.items()}
    times = {name: (c / len(queries), w / len(queries)) for name, (c, w) in rounds(each, repeats).items()}
    report("one query", times, "sentence-transformers fp32")


def random_cross_encoder(folder: Path) -> Path:
    """The packaged encoder under a classifier with random weights."""
    import torch
    from transformers import AutoConfig, AutoTokenizer, BertForSequenceClassification

    from rag_app.embed.packaged import packaged_folder

    torch.manual_seed(0)
    config = AutoConfig.from_pretrained(packaged_folder(), num_labels=1)
    model = BertForSequenceClassification.from_pretrained(packaged_folder(), config=config)
    # The classifier drawn wide enough that scores of different passages lie apart, as a trained one's do.
    for layer in (model.bert.pooler.dense, model.classifier):
        torch.nn.init.normal_(layer.weight, std=0.2)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(packaged_folder(), model_max_length=512).save_pretrained(folder)
    return folder


def reranking(folder: Path, questions: int, repeats: int) -> None:
    """Ten pairs of 200 tokens; the order of each question's ten is compared with torch fp32's."""
    import torch

    from rag_app.backend import thread_count
    from rag_app.rerank import openvino_pairs
    from rag_app.rerank.pairs import kendall_tau, load_pairs

    torch.set_num_threads(thread_count())
    print(json.dumps({"chosen": load_pairs(str(folder), device="cpu").backend}))
    # bf16 is shown as it is, also where the program would refuse it.
    openvino_pairs.LEAST_AGREEMENT = -1.0
    ways = {
        f"{backend} {dtype}": load_pairs(str(folder), backend=backend, dtype=dtype, device="cpu")
        for backend in ("torch", "openvino")
        for dtype in ("float32", "bfloat16")
    }
    sets = [[(query, text) for text in prose(10, PASSAGE_WORDS, i)] for i, query in enumerate(prose(questions, 10, 3))]
    tokens = [ways["torch float32"].count_tokens(text) for _, text in sets[0]]
    print(json.dumps({"pairs": 10, "mean_tokens_of_a_passage": round(float(np.mean(tokens)), 1), "model": folder.name}))
    scores = {name: [way.logits(pairs, batch_size=16)[:, 0] for pairs in sets] for name, way in ways.items()}
    exact = scores["torch float32"]
    taus = {
        name: round(float(np.mean([kendall_tau(a, b) for a, b in zip(exact, found, strict=True)])), 4)
        for name, found in scores.items()
    }
    spread = float(np.mean([np.std(each) for each in exact]))
    away = {
        name: round(float(np.max(np.abs(np.array(exact) - np.array(found)))) / spread, 4)
        for name, found in scores.items()
    }
    calls = {name: lambda way=way: way.logits(sets[0], batch_size=16) for name, way in ways.items()}
    report("ten pairs", rounds(calls, repeats), "torch float32", kendall_tau=taus, largest_error_in_sd=away)


def cold(repeats: int) -> None:
    """From a fresh process to the first vector: imports, weights, one query."""
    from rag_app.embed.packaged import packaged_folder

    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in COLD}
    for _ in range(repeats + 1):
        for name, program in COLD.items():
            measured = f"import resource; {program.format(folder=str(packaged_folder()))}; u = resource.getrusage(0); "
            measured += "print(u.ru_utime + u.ru_stime)"
            wall = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", measured], capture_output=True, text=True, check=True)
            taken[name].append((float(done.stdout.split()[-1]), time.perf_counter() - wall))
    times = {name: (median(c for c, _ in t[1:]), median(w for _, w in t[1:])) for name, t in taken.items()}
    report("first vector of a cold process", times, "sentence-transformers")


def table() -> None:
    """The rows once more, for people."""
    print("\n| what | who | CPU ms | ratio | wall ms | ratio | agreement |\n|---|---|---|---|---|---|---|")
    for row in ROWS:
        agreement = "".join(f"{k.replace('_', ' ')} {row[k]} " for k in ("least_cosine", "kendall_tau") if k in row)
        cells = (
            row["what"],
            row["who"],
            row["cpu_ms"],
            f"{row['ratio_cpu']}x",
            row["wall_ms"],
            f"{row['ratio_wall']}x",
        )
        print("| " + " | ".join(map(str, (*cells, agreement.strip()))) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reranker", type=Path, help="a cross-encoder's folder; without, one with random weights")
    parser.add_argument("--only", choices=("embedding", "reranking"), help="one of the two")
    parser.add_argument("--cold", action="store_true", help="loading times instead")
    parser.add_argument("--documents", type=int, default=128)
    parser.add_argument("--questions", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=7)
    given = parser.parse_args()
    if given.cold:
        cold(given.rounds)
    if not given.cold and given.only != "reranking":
        embedding(given.documents, given.rounds)
    if not given.cold and given.only != "embedding":
        with tempfile.TemporaryDirectory() as place:
            folder = given.reranker or random_cross_encoder(Path(place) / "random")
            reranking(folder, given.questions, given.rounds)
    table()


if __name__ == "__main__":
    main()
