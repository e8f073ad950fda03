"""What a command imports from a cold process: a person waits for it each time."""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from pathlib import Path

from langchain_core.documents import Document

from rag_app.embed import HashingEmbedder
from rag_app.index import LocalIndex
from rag_app.types import LoadedDocument

OUTSIDE = (
    *("torch", "transformers", "sentence_transformers", "openvino", "tokenizers", "faiss", "huggingface_hub"),
    *("langchain_openai", "langchain_community", "langchain_classic", "langchain_text_splitters", "yaml", "rich"),
    *("nupunkt", "pypdfium2", "lxml", "filelock", "jinja2", "langchain_core.language_models.chat_models"),
)
# Beside `rag_app.index.local`, which is all of the index.
SEARCH = {
    *("", ".lazy", ".errors", ".jsonable", ".types", ".values", ".filters", ".trace"),
    *(".cli", ".cli.common", ".cli.search", ".pipeline", ".pipeline.build"),
    *(".settings", ".settings.faults", ".settings.layers", ".settings.stage", ".settings.tree"),
    *(".text", ".text.analyzer", ".text.languages", ".text.normalize"),
    *(".backend", ".backend.choice", ".backend.processor", ".backend.weights"),
    *(".embed", ".embed.base", ".embed.encoder", ".embed.long", ".embed.packaged", ".embed.retry"),
    *(".index", ".index.base", ".index.settings"),
    *(".retrieve", ".retrieve.base", ".retrieve.bm25", ".retrieve.dense", ".retrieve.hybrid", ".retrieve.arms"),
    *(".retrieve.fusion", ".retrieve.foreign", ".retrieve.identity", ".retrieve.diversity"),
}
WRITING = {"rag_app.index.local.writer", "rag_app.index.local.postings", "rag_app.index.local.build"}


HASHING = ("--set", "embed.kind=hashing")


def build(path: Path, embedder: HashingEmbedder | None) -> Path:
    text = "the pump needs oil"
    with LocalIndex.create(path, embedder=embedder) as made:
        document = LoadedDocument(id="d", page_content=text, metadata={"source": "d.txt"})
        made.upsert(document, [Document(id=f"d:0-{len(text)}", page_content=text, metadata={"source": "d.txt"})])
    return path


def loaded_by(*arguments: str) -> tuple[str, set[str]]:
    """What a command prints, and the modules that are there when it is done."""
    code = (
        "import sys\n"
        "from rag_app.cli import main\n"
        "try:\n"
        "    main(sys.argv[1:])\n"
        "finally:\n"
        "    sys.stderr.write(' '.join(sys.modules))\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return done.stdout, set(done.stderr.split())


def test_a_search_by_words_imports_what_searching_by_words_takes(tmp_path: Path) -> None:
    index = build(tmp_path / "i", None)
    out, modules = loaded_by("search", "oil", "--index", str(index), "--ranking", "bm25", "--json")
    assert len(json.loads(out)["hits"]) == 1
    own = {name for name in modules if name.split(".")[0] == "rag_app" and not name.startswith("rag_app.index.local")}
    assert own - {f"rag_app{name}" for name in SEARCH} == set()
    assert not modules & WRITING
    assert not modules & set(OUTSIDE)


def test_a_search_by_words_and_vectors_knows_nothing_of_answers(tmp_path: Path) -> None:
    index = build(tmp_path / "i", HashingEmbedder())
    out, modules = loaded_by("search", "oil", "--index", str(index), "--json", *HASHING)
    assert len(json.loads(out)["hits"]) == 1
    stages = {f"rag_app.{stage}" for stage in ("load", "split", "ingest", "rerank", "expand", "synthesize", "verify")}
    assert not modules & stages


def test_a_command_imports_no_other_command() -> None:
    _, modules = loaded_by("models", "--json")
    assert {name for name in modules if name.startswith("rag_app.cli.")} == {"rag_app.cli.common", "rag_app.cli.models"}
    assert not modules & {"langchain_core.retrievers", "rag_app.settings", "rag_app.pipeline"}


def test_a_program_that_ends_looks_for_no_garbage_among_what_it_imported_and_a_caller_is_left_alone() -> None:
    at_exit = (
        "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count() > 10_000, gc.get_threshold()[0]))\n"
    )
    for call, expected in (("main()", "True 100000"), ("main(['models', '--json'])", f"False {gc.get_threshold()[0]}")):
        program = f"{at_exit}from rag_app.cli import main\n{call}"
        done = subprocess.run([sys.executable, "-c", program, "models", "--json"], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert done.stdout.splitlines()[-1] == expected
