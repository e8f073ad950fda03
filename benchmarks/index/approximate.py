"""`hnsw` and `int8` beside the exact scan: cost to build, cost of a query, recall@10, with and without filters.

    OMP_NUM_THREADS=1 python benchmarks/index/approximate.py --vectors MATRIX.f32 --rows 20000

MATRIX.f32 holds rows of float32 (an embedding cache's `.vectors` file will do); without it rows are drawn around
random centers. Queries are the midpoints of pairs of rows that were left out.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.embed.base import unit_rows
from rag_app.index import IndexSettings, LocalIndex
from rag_app.types import LoadedDocument

QUERIES = 100


def rows_of(file: Path | None, count: int, dimension: int) -> Any:
    """Unit rows, in random order."""
    chance = np.random.default_rng(0)
    if file is not None:
        matrix = np.fromfile(file, dtype=np.float32)
        matrix = unit_rows(matrix[: len(matrix) // dimension * dimension].reshape(-1, dimension))
        return chance.permutation(matrix)[: count + 2 * QUERIES]
    centers = chance.standard_normal((count // 50, dimension))
    chosen = centers[chance.integers(0, len(centers), count + 2 * QUERIES)]
    return unit_rows(chosen + chance.standard_normal(chosen.shape))


def build(path: Path, rows: Any, dense: Any) -> float:
    """CPU seconds for one segment."""
    settings = IndexSettings(dense=dense, flush_chunks=10**9, embedding_cache=False)
    started = time.process_time()
    with LocalIndex.create(path, embedder=HashingEmbedder(dimensions=rows.shape[1]), settings=settings) as index:
        ids = [f"{i:07d}" for i in range(len(rows))]
        chunks = [Document(id=name, page_content="x", metadata={"bucket": i % 100}) for i, name in enumerate(ids)]
        vectors = dict(zip(ids, rows, strict=True))
        index.upsert(LoadedDocument(id="d", page_content="x"), chunks, vectors=vectors)
    return time.process_time() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--dense", action="append", choices=("flat", "hnsw", "int8"), help="all three unless given")
    arguments = parser.parse_args()
    rows = rows_of(arguments.vectors, arguments.rows, arguments.dimension)
    rest, rows = rows[: 2 * QUERIES], rows[2 * QUERIES :]
    queries = unit_rows(rest[::2] + rest[1::2])
    for dense in arguments.dense or ("flat", "hnsw", "int8"):
        with tempfile.TemporaryDirectory() as folder:
            built = build(Path(folder) / "i", rows, dense)
            index = LocalIndex.open(Path(folder) / "i")
            index.dense_by_vectors(queries[:1], k=10)
            for share in (100, 50, 10, 1):
                condition = {"bucket": {"$lt": share}} if share < 100 else None
                true = [index.dense_by_vectors([q], k=10, filters=condition, exact=True)[0] for q in queries]
                times, found = [], []
                for query in queries:
                    started = time.process_time()
                    found.append(index.dense_by_vectors([query], k=10, filters=condition)[0])
                    times.append(time.process_time() - started)
                pairs = zip(found, true, strict=True)
                shared = sum(len({h.chunk_id for h in a} & {h.chunk_id for h in b}) for a, b in pairs)
                figures = {
                    "dense": dense,
                    "rows": len(rows),
                    "build CPU s": round(built, 1),
                    "filter passes %": share,
                    "query ms": round(float(np.median(times)) * 1000, 3),
                    "recall@10": round(shared / sum(map(len, true)), 4),
                }
                print(json.dumps(figures), flush=True)


if __name__ == "__main__":
    main()
