"""One class for each stack of `peers.py`: build over texts and vectors, answer by text and vector; the ids found.

Run by `peers.py` with the Python of the stack's own environment, which need not have rag_app.
"""

from __future__ import annotations

import importlib.metadata
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from common import DIMENSION, build_ours, hybrid, import_ours, measured


class Ours:
    """BM25 and vectors, fused by reciprocal ranks, with their documents."""

    package = "rag-app"

    def imports(self) -> None:
        import_ours()
        from rag_app.embed import HashingEmbedder

        self.embedder = HashingEmbedder(dimensions=DIMENSION)

    def build(self, folder: Path, texts: list[str], vectors: Any) -> None:
        self.index = build_ours(folder / "ours", texts, vectors, self.embedder)

    def ask(self, query: str, vector: Any) -> list[Any]:
        return [document.id for document in hybrid(self.index, query, vector)]


class LlamaIndex:
    """BM25Retriever (bm25s) and Faiss under QueryFusionRetriever, one query."""

    package = "llama-index-core"

    def imports(self) -> None:
        import faiss  # noqa: F401
        import llama_index.core.retrievers
        import llama_index.retrievers.bm25
        import llama_index.vector_stores.faiss  # noqa: F401

    def build(self, folder: Path, texts: list[str], vectors: Any) -> None:
        import faiss
        from llama_index.core import MockEmbedding, StorageContext, VectorStoreIndex
        from llama_index.core.llms import MockLLM
        from llama_index.core.retrievers import QueryFusionRetriever
        from llama_index.core.schema import TextNode
        from llama_index.retrievers.bm25 import BM25Retriever
        from llama_index.vector_stores.faiss import FaissVectorStore

        nodes = [
            TextNode(id_=str(i), text=text, embedding=vector.tolist(), metadata={"bucket": i % 100})
            for i, (text, vector) in enumerate(zip(texts, vectors, strict=True))
        ]
        store = FaissVectorStore(faiss_index=faiss.IndexFlatIP(DIMENSION))
        context = StorageContext.from_defaults(vector_store=store)
        index = VectorStoreIndex(nodes, storage_context=context, embed_model=MockEmbedding(DIMENSION))
        keyword = BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=10)
        self.retriever = QueryFusionRetriever(
            [index.as_retriever(similarity_top_k=10), keyword],
            llm=MockLLM(),
            mode="reciprocal_rerank",
            similarity_top_k=10,
            num_queries=1,
            use_async=False,
        )

    def ask(self, query: str, vector: Any) -> list[Any]:
        from llama_index.core.schema import QueryBundle

        found = self.retriever.retrieve(QueryBundle(query, embedding=vector.tolist()))
        return [node.node.node_id for node in found]


class LanceDB:
    """A table with a full-text index; its hybrid query, fused by reciprocal ranks."""

    package = "lancedb"

    def imports(self) -> None:
        import lancedb  # noqa: F401

    def build(self, folder: Path, texts: list[str], vectors: Any) -> None:
        import lancedb
        import pyarrow as pa

        columns = {
            "id": pa.array(range(len(texts))),
            "text": pa.array(texts),
            "bucket": pa.array([i % 100 for i in range(len(texts))]),
            "vector": pa.FixedSizeListArray.from_arrays(pa.array(np.asarray(vectors).reshape(-1)), DIMENSION),
        }
        self.table = lancedb.connect(str(folder / "lancedb")).create_table("chunks", pa.table(columns))
        self.table.create_fts_index("text", replace=True)

    def ask(self, query: str, vector: Any) -> list[Any]:
        found = self.table.search(query_type="hybrid").vector(vector).text(query).limit(10).to_list()
        return [row["id"] for row in found]


class Txtai:
    """Embeddings with `hybrid` and `content`: its own BM25, Faiss and SQLite."""

    package = "txtai"

    def imports(self) -> None:
        import txtai  # noqa: F401

    def build(self, folder: Path, texts: list[str], vectors: Any) -> None:
        from txtai import Embeddings

        self.known = dict(zip(texts, vectors, strict=True))
        self.embeddings = Embeddings(
            method="external",
            transform=lambda texts: np.stack([self.known[text] for text in texts]),
            hybrid=True,
            content=True,
        )
        self.embeddings.index((i, text, None) for i, text in enumerate(texts))

    def ask(self, query: str, vector: Any) -> list[Any]:
        self.known[query] = vector
        return [row["id"] for row in self.embeddings.search(query, 10)]


class Haystack:
    """InMemoryDocumentStore: BM25 and embedding retrievers, joined by reciprocal ranks."""

    package = "haystack-ai"

    def imports(self) -> None:
        import haystack.components.joiners
        import haystack.components.retrievers.in_memory
        import haystack.document_stores.in_memory  # noqa: F401

    def build(self, folder: Path, texts: list[str], vectors: Any) -> None:
        from haystack import Document
        from haystack.components.joiners import DocumentJoiner
        from haystack.components.retrievers.in_memory import InMemoryBM25Retriever, InMemoryEmbeddingRetriever
        from haystack.document_stores.in_memory import InMemoryDocumentStore

        store = InMemoryDocumentStore()
        store.write_documents(
            [
                Document(id=str(i), content=text, embedding=vector.tolist(), meta={"bucket": i % 100})
                for i, (text, vector) in enumerate(zip(texts, vectors, strict=True))
            ]
        )
        self.keyword = InMemoryBM25Retriever(store, top_k=10)
        self.dense = InMemoryEmbeddingRetriever(store, top_k=10)
        self.joiner = DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=10)

    def ask(self, query: str, vector: Any) -> list[Any]:
        lists = [
            self.keyword.run(query=query)["documents"],
            self.dense.run(query_embedding=vector.tolist())["documents"],
        ]
        return [document.id for document in self.joiner.run(documents=lists)["documents"]]


STACKS: dict[str, Any] = {
    "ours": Ours,
    "llamaindex": LlamaIndex,
    "lancedb": LanceDB,
    "txtai": Txtai,
    "haystack": Haystack,
}


def say(answer: Any) -> None:
    print(json.dumps({"answer": answer}), flush=True)


def main() -> None:
    name, folder = sys.argv[1], Path(sys.argv[2])
    texts, questions = (json.loads((folder / f"{part}.json").read_text()) for part in ("texts", "questions"))
    vectors, asked = np.load(folder / "vectors.npy"), np.load(folder / "asked.npy")
    stack = STACKS[name]()
    stack.imports()
    built = measured(lambda: stack.build(folder, texts, vectors))[2]
    say({"cpu": built, "version": importlib.metadata.version(stack.package)})
    for line in sys.stdin:
        results = []
        for number in json.loads(line):
            found, wall, cpu = measured(lambda number=number: stack.ask(questions[number], asked[number]))
            results.append({"cpu": cpu * 1000, "wall": wall * 1000, "hits": len(found)})
        say(results)


if __name__ == "__main__":
    main()
