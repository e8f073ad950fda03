"""Contextual retrieval: what a chat model writes is embedded beside the chunk and never in it."""

from __future__ import annotations

from langchain_core.documents import Document
from langchain_core.language_models import GenericFakeChatModel
from langchain_core.messages import AIMessage

from rag_app.split import RecursiveSplitter, chat_context
from rag_app.split.context import _request


def test_a_model_places_each_chunk() -> None:
    model = GenericFakeChatModel(messages=iter([AIMessage(" From the pump\nmanual. "), AIMessage("x" * 900)]))
    splitter = RecursiveSplitter(chunk_size=14, embed_context="model", write_context=chat_context(model))
    first, second = splitter.transform_documents([Document(page_content="Use {json: 1}. Then stop.")])
    assert (first.page_content, second.page_content) == ("Use {json: 1}.", "Then stop.")
    assert first.metadata["embed_text"] == "From the pump manual.\n\nUse {json: 1}."
    assert second.metadata["embed_text"] == "x" * 500 + "\n\nThen stop."


def test_a_long_document_is_shown_around_the_chunk() -> None:
    document = "Title. " + "filler " * 5_000 + "HERE IT IS " + "filler " * 5_000
    request = _request(document, "HERE IT IS", 2_000)
    assert request.startswith("<document>\nTitle.")
    assert request.endswith("<passage>\nHERE IT IS\n</passage>")
    assert len(request) < 4_000
