"""The index side: settings into stages, files into an index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_app.index import Index, LocalIndex
from rag_app.settings import Settings
from rag_app.types import ConfigError, LoadedDocument, LoadFailure

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

    from rag_app.embed import Embedder
    from rag_app.ingest import IngestReport

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, slots=True)
class Stages:
    """The question side of a pipeline, each stage bound to its index and models; each is useful by itself.

    With the `index`, a citation has the page, the section and the rectangles of its quote, not only its chunk's.
    """

    retriever: BaseRetriever
    reranker: Any
    expander: Any
    synthesizer: Any
    verifier: Any
    index: LocalIndex | None = None


def checked(settings: Settings) -> Settings:
    """The settings; ConfigError for what is none, such as a folder in their place."""
    if not isinstance(settings, Settings):
        raise ConfigError(
            f"expected Settings, found a {type(settings).__name__}; settings come first, then the index or its folder"
        )
    return settings


def build_splitter(settings: Settings, embedder: Embedder) -> Any:
    """The settings' splitter, with the embedder's tokenizer as its ruler and the embedder for semantic cuts."""
    return settings.split.bind(count_tokens=embedder.count_tokens, max_tokens=embedder.max_tokens, embeddings=embedder)


def build_index(
    settings: Settings,
    paths: Sequence[str | Path],
    directory: str | Path,
    *,
    sync: bool = False,
    progress: Progress | None = None,
) -> tuple[LocalIndex, IngestReport]:
    """Load, split, embed and index `paths` into the folder `directory`, made when it is not there.

    Unchanged documents are skipped, changed ones replaced; with `sync`, documents whose file vanished are deleted.
    Files that cannot be loaded are in the report's `failed`; the others go on.
    """
    index = open_or_create(settings, directory)
    return index, add_files(settings, index, paths, sync=sync, progress=progress)


def add_files(
    settings: Settings,
    index: LocalIndex,
    paths: Sequence[str | Path],
    *,
    sync: bool = False,
    allow_empty: bool = False,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> IngestReport:
    """Load, split and embed `paths` into an open index; then measure how far each ranking can be trusted on it.

    With `sync`, a path that is not there is a ConfigError, and a folder without files a failure that takes nothing out
    unless `allow_empty`: a slip or an unmounted disk must not empty an index.
    """
    from rag_app.ingest import ingest

    gone = [str(path) for path in paths if not os.path.lexists(path)] if sync else []
    if gone:
        raise ConfigError(
            f"--sync with {gone[0]!r}, which is not there, would take out all that was indexed from it; "
            "name the path as it is, or take sources out with --delete"
        )
    loaded = settings.load.load_all([str(path) for path in paths], progress=progress)
    if sync:
        loaded = _emptied(loaded, allowed=allow_empty)
    splitter = build_splitter(settings, index.embedder)
    report = ingest(index, loaded, splitter, sync=sync, dry_run=dry_run, progress=progress)
    return report if dry_run else _with_arms(index, report, progress)


def _emptied(
    loaded: Iterable[LoadedDocument | LoadFailure], *, allowed: bool
) -> Iterator[LoadedDocument | LoadFailure]:
    """What was loaded, where a folder without files is nothing to speak of, or a failure that says what it means."""
    from rag_app.load.walk import NO_FILES

    for item in loaded:
        if isinstance(item, LoadFailure) and item.reason.startswith(NO_FILES):
            if allowed:
                continue
            item = replace(item, reason=f"{item.reason}; what was indexed from it stays, unless --allow-empty is given")
        yield item


def reembed(
    settings: Settings, directory: str | Path, *, progress: Progress | None = None
) -> tuple[LocalIndex, IngestReport]:
    """All vectors of the index at `directory` anew, with the settings' embedder, and what was measured with the old."""
    from rag_app.ingest import reembed as ingest_again

    index, report = ingest_again(directory, checked(settings).embed, progress=progress)
    return index, _with_arms(index, report, progress)


def _with_arms(index: LocalIndex, report: IngestReport, progress: Progress | None) -> IngestReport:
    from rag_app.retrieve.arms import diagnosis
    from rag_app.retrieve.measure import measure_arms, stale

    if not stale(index.notes, len(index)):
        return report
    index.set_notes({**index.notes, "arms": measure_arms(index, progress=progress)})
    index.commit()
    finding = diagnosis(index.notes)
    return report if finding is None else replace(report, warnings=(*report.warnings, finding))


def open_or_create(settings: Settings, directory: str | Path) -> LocalIndex:
    """The index at `directory`, checked against the settings; a new one where there is none."""
    checked(settings)
    if LocalIndex.exists(directory):
        return open_index(settings, directory)
    return LocalIndex.create(directory, embedder=settings.embed, settings=settings.index)


def open_index(settings: Settings, directory: str | Path) -> LocalIndex:
    """The index at `directory`; IndexMissingError when there is none, IndexMismatchError when the settings disagree."""
    return LocalIndex.open(directory, embedder=checked(settings).embed, settings=settings.index)


def build_stages(settings: Settings, index: LocalIndex, *, chat_model: Any = None) -> Stages:
    """Each stage of the question side, bound to the index.

    `chat_model`, or else the model of `synthesize`, serves every stage that asks one: an LLM reranker or judge too.
    """
    checked(settings)
    if not isinstance(index, Index):
        raise ConfigError(f"expected an open index, found a {type(index).__name__}; open_index opens it")
    embedder = index.embedder
    chat_model = chat_model if chat_model is not None else chat_model_of(settings)
    return Stages(
        retriever=bind(settings.retrieve, index=index, chat_model=chat_model),
        reranker=bind(settings.rerank, embeddings=embedder, chat_model=chat_model),
        expander=bind(settings.expand, index=index),
        synthesizer=bind(settings.synthesize, embeddings=embedder, chat_model=chat_model),
        verifier=bind(settings.verify, chat_model=chat_model),
        index=index,
    )


def chat_model_of(settings: Settings) -> Any:
    """The chat model that `synthesize` names; None when the answers need none. ConfigError when it cannot be made."""
    synthesizer = settings.synthesize
    return synthesizer.language_model() if synthesizer.kind == "llm" else None


def bind(component: Any, **runtime: Any) -> Any:
    """A copy of the component with those runtime objects that it has fields for; a None changes nothing."""
    known = type(component).model_fields
    return component.model_copy(update={k: v for k, v in runtime.items() if k in known and v is not None})
