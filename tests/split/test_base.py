"""What every splitter shares: exact slices, ids, places, LangChain's methods, and the embedder's window."""

from __future__ import annotations

import warnings

import pytest
from langchain_core.documents import Document
from langchain_text_splitters import TextSplitter

from rag_app.split import OversizedChunkWarning, RecursiveSplitter
from rag_app.types import ConfigError, Heading, Layout, LoadedDocument, Page, make_doc_id

TEXT = "Cats purr.  They sleep.\n\nDogs bark! Loudly."


def test_a_splitter_is_a_langchain_text_splitter_and_its_methods_agree() -> None:
    splitter = RecursiveSplitter(chunk_size=12)
    assert isinstance(splitter, TextSplitter)
    texts = splitter.split_text(TEXT)
    assert texts == ["Cats purr.", "They sleep.", "Dogs bark!", "Loudly."]
    assert [c.page_content for c in splitter.create_documents([TEXT])] == texts
    assert splitter.split_documents([Document(page_content=TEXT)]) == splitter.create_documents([TEXT], [{}])
    assert splitter.transform_documents([Document(page_content=TEXT)]) == splitter.create_documents([TEXT])


def test_a_chunk_knows_its_place() -> None:
    document = LoadedDocument(
        id="abc",
        page_content=TEXT,
        metadata={"doc_id": "abc", "source": "pets.pdf", "tags": ["a"]},
        layout=Layout(
            pages=(Page(start=0, end=24, label="i"), Page(start=25, end=44, label="2")),
            headings=(Heading(start=0, level=1, title="Cats"), Heading(start=25, level=1, title="Dogs")),
        ),
    )
    first, *_, last = RecursiveSplitter(chunk_size=12).chunks(document)
    assert first.id == "abc:0-10"
    assert first.metadata == {
        "doc_id": "abc", "source": "pets.pdf", "tags": ["a"], "start_index": 0, "end_index": 10, "chunk_index": 0,
        "page": 1, "page_label": "i", "section_path": ["Cats"],
    }  # fmt: skip
    assert (last.id, last.metadata["page"], last.metadata["section_path"]) == ("abc:36-43", 2, ["Dogs"])
    assert "page_label" not in last.metadata
    first.metadata["tags"].append("b")
    assert document.metadata == {"doc_id": "abc", "source": "pets.pdf", "tags": ["a"]}


def test_ids_of_split_parents_are_derived_and_stable() -> None:
    """BUGS.md row 19: langchain-ai/langchain#11982."""
    text = "One two three. Four five six. Seven eight nine. Ten eleven twelve."
    parents = RecursiveSplitter(chunk_size=30).split_documents([Document(id="X", page_content=text)])
    children = RecursiveSplitter(chunk_size=15).split_documents(parents)
    assert [parent.id for parent in parents] == ["X:0-29", "X:30-47", "X:48-66"]
    assert len({child.id for child in children}) == len(children) == 6
    for child in children:
        start, end = child.metadata["start_index"], child.metadata["end_index"]
        assert (child.id, child.page_content) == (f"X:{start}-{end}", text[start:end])
    assert children == RecursiveSplitter(chunk_size=15).split_documents(parents)


def test_without_an_id_source_and_text_make_one() -> None:
    chunks = RecursiveSplitter().create_documents(["same", "same"], [{"source": "a"}, {"source": "b"}])
    assert [chunk.metadata["doc_id"] for chunk in chunks] == [make_doc_id("a", "same"), make_doc_id("b", "same")]


def test_a_chunk_that_the_embedder_would_cut_is_named() -> None:
    """BUGS.md row 8: run-llama/llama_index#17171, #10119."""
    document = Document(id="doc", page_content="word " * 30 + ". E-4012 pump", metadata={"source": "a.txt"})
    splitter = RecursiveSplitter().bind(count_tokens=lambda text: len(text.split()), max_tokens=20)
    with pytest.warns(OversizedChunkWarning, match=r"chunk doc:0-163 of a\.txt has 33 tokens, the embedder reads 20"):
        splitter.chunks(document)
    with pytest.raises(ConfigError, match="doc:0-163"):
        splitter.model_copy(update={"oversized": "error"}).chunks(document)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RecursiveSplitter(length="tokens", chunk_size=20).bind(
            count_tokens=lambda text: len(text.split()), max_tokens=20
        ).chunks(document)


def test_a_chunk_above_the_window_is_split_on_request() -> None:
    splitter = RecursiveSplitter(oversized="split").bind(count_tokens=lambda text: len(text.split()), max_tokens=20)
    chunks = splitter.chunks(Document(id="doc", page_content="word " * 30 + ". E-4012 pump"))
    assert [len(chunk.page_content.split()) for chunk in chunks] == [20, 13]
    assert chunks[1].metadata["chunk_index"] == 1


def test_tokens_need_something_that_counts_them() -> None:
    with pytest.raises(ConfigError, match="count_tokens"):
        RecursiveSplitter(length="tokens").split_text("a b")


def test_embed_text_is_beside_the_text() -> None:
    document = Document(page_content=TEXT, metadata={"title": "Pets", "section_path": ["Pets", "Noise"]})
    chunk = RecursiveSplitter(embed_context="headings").chunks(document)[0]
    assert chunk.page_content == TEXT
    assert chunk.metadata["embed_text"] == f"Pets > Noise\n\n{TEXT}"
    model = RecursiveSplitter(embed_context="model", write_context=lambda whole, piece: f" about {len(whole)} ")
    assert model.chunks(document)[0].metadata["embed_text"] == f"about {len(TEXT)}\n\n{TEXT}"


@pytest.mark.community
def test_parent_document_retriever_of_langchain_takes_the_splitters() -> None:
    from langchain_classic.retrievers import ParentDocumentRetriever
    from langchain_core.embeddings import DeterministicFakeEmbedding
    from langchain_core.stores import InMemoryStore
    from langchain_core.vectorstores import InMemoryVectorStore

    retriever = ParentDocumentRetriever(
        vectorstore=InMemoryVectorStore(DeterministicFakeEmbedding(size=8)),
        docstore=InMemoryStore(),
        child_splitter=RecursiveSplitter(chunk_size=12),
        parent_splitter=RecursiveSplitter(chunk_size=30),
    )
    retriever.add_documents([Document(id="X", page_content=TEXT)])
    assert {document.page_content for document in retriever.invoke("Dogs bark!")} <= set(
        RecursiveSplitter(chunk_size=30).split_text(TEXT)
    )


def test_what_an_earlier_splitter_noted_does_not_stand_on_the_pieces() -> None:
    old = {"parent": [0, 900], "window": [3, 9], "embed_text": "old words", "section": "kept"}
    (chunk,) = RecursiveSplitter().transform_documents([Document("New words.", metadata=old)])
    assert not {"parent", "window", "embed_text"} & set(chunk.metadata)
    assert chunk.metadata["section"] == "kept"
    (chunk,) = RecursiveSplitter().transform_documents([Document("New words.", metadata={"parent": "Guide"})])
    assert chunk.metadata["parent"] == "Guide"
