"""`rag-app search`: what the retriever finds, with rank and score in every stage."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import typer

from rag_app.cli.common import ConfigOption, IndexOption, JsonOption, SetOption

if TYPE_CHECKING:
    from rag_app.retrieve.base import TracedRetriever
    from rag_app.settings import Settings
    from rag_app.trace import Explanation, Ranked

RANKINGS = ("bm25", "dense", "hybrid", "rerank")
_SHOWN = 160  # characters of a hit's text
_SLICE = 64  # queries embedded together; results come out as soon as a slice is done


def register(app: typer.Typer) -> None:
    """Add the command to `app`."""

    @app.command()
    def search(
        query: str | None = typer.Argument(None, help="The query; not needed with --queries."),
        index: IndexOption = "rag-app.index",
        top_k: int | None = typer.Option(None, "--top-k", metavar="N", help="How many hits; else the settings' own."),
        ranking: str = typer.Option("hybrid", "--ranking", help=f"One of {', '.join(RANKINGS)}."),
        filter: str | None = typer.Option(None, "--filter", metavar="JSON", help='Such as {"year": {"$gte": 2024}}.'),
        queries: str | None = typer.Option(
            None, "--queries", metavar="FILE.jsonl", help='A batch: {"query", "filter"?} a line; "-" is standard input.'
        ),
        explain: str | None = typer.Option(
            None, "--explain", metavar="ID", help="Where this chunk stood in each stage, and what removed it."
        ),
        config: ConfigOption = None,
        sets: SetOption = None,
        as_json: JsonOption = False,
    ) -> None:
        """Search an index and show where each hit stood in every stage."""
        raise typer.Exit(_run(query, index, top_k, ranking, filter, queries, explain, config, sets, as_json))


def _run(
    query: str | None,
    directory: str,
    top_k: int | None,
    ranking: str,
    filter: str | None,
    queries: str | None,
    explain: str | None,
    config: str | None,
    sets: list[str] | None,
    as_json: bool,
) -> int:
    from rag_app.cli.common import filter_from_json, load_settings, warn, warn_if_empty
    from rag_app.pipeline import open_index
    from rag_app.types import ConfigError

    if ranking not in RANKINGS:
        raise ConfigError(f"--ranking: {ranking!r} is unknown; take one of {', '.join(RANKINGS)}")
    if (query is None) == (queries is None):
        raise ConfigError("give one query, or --queries FILE.jsonl, and not both")
    if top_k is not None and top_k < 1:
        raise ConfigError(f"--top-k: {top_k} hits cannot be shown; take 1 or more")
    settings = load_settings(config, sets)
    condition = None if filter is None else filter_from_json(filter)
    rows = [{"query": query, "filter": None}] if queries is None else read_queries(queries)
    index = open_index(settings, directory)
    searcher = Searcher(settings, index, ranking, top_k)
    failed, told = False, set[str]()
    warn_if_empty(index, directory)
    for start in range(0, len(rows), _SLICE):
        part = rows[start : start + _SLICE]
        for row, found in zip(part, searcher.answer(part, condition), strict=True):
            failed = failed or isinstance(found, Exception)
            _show(row, found, searcher, explain, condition, as_json)
            for field in _unknown_fields(index, row, found, condition) - told:
                told.add(field)
                close = difflib.get_close_matches(field, index.fields(), n=1)
                known = f"did you mean {close[0]!r}?" if close else f"there are {', '.join(sorted(index.fields()))}"
                warn(f"nothing passes the filter: no chunk has the field {field!r}; {known}")
    return 1 if failed else 0


def _unknown_fields(index: Any, row: dict[str, Any], found: Any, condition: Any) -> set[str]:
    """The fields of the filters that no chunk has, where nothing was found; what is fine costs nothing."""
    given = [each for each in (condition, row.get("filter")) if each]
    if isinstance(found, Exception) or found or not given or not len(index):
        return set()
    from rag_app.filters import parse_filter

    filters = [parse_filter(each) for each in given]
    known = index.fields()
    named = set[str]().union(*(each.fields() for each in filters))
    return {field for field in named if field not in known and field.partition(".")[0] not in known}


class Searcher:
    """One ranking over one index, opened once and asked many times."""

    def __init__(self, settings: Settings, index: Any, ranking: str, top_k: int | None) -> None:
        from rag_app.pipeline import bind, chat_model_of

        self.index = index
        self.ranking = ranking
        self.top_k = top_k or settings.retrieve.top_k
        self.retriever: TracedRetriever = make_retriever(settings, index, ranking)
        self.reranker: Any = None
        if ranking == "rerank":
            asked = chat_model_of(settings) if settings.rerank.kind == "llm" else None
            bound = bind(settings.rerank, embeddings=index.embedder, chat_model=asked)
            self.reranker = bound.model_copy(update={"top_n": None})

    def answer(self, rows: Sequence[dict[str, Any]], condition: Any) -> Iterator[Any]:
        """A `Ranked` for each row, or the error that its filter or text met."""
        from rag_app.filters import parse_filter
        from rag_app.types import RagAppError

        filters: list[Any] = []
        errors: dict[int, Exception] = {}
        for place, row in enumerate(rows):
            try:
                own = row.get("filter")
                if own is not None:
                    parse_filter(own)
                filters.append(both(condition, own))
            except RagAppError as error:
                errors[place] = error
                filters.append(None)
        depth = self.top_k if self.reranker is None else max(self.top_k, self.reranker.max_candidates or 0)
        results = self.retriever.batch([str(row["query"]) for row in rows], k=depth, filter=filters)
        for place, (row, result) in enumerate(zip(rows, results, strict=True)):
            yield errors.get(place) or self._reranked(str(row["query"]), result)

    def _reranked(self, query: str, candidates: Any) -> Ranked:
        from rag_app.trace import Ranked

        if self.reranker is None:
            found: Ranked = candidates
            return found
        ranked: Ranked = self.reranker.compress_documents(candidates, query)
        if self.reranker.threshold is not None:
            return Ranked(ranked[: self.top_k], ranked.trace)
        # What was not reranked follows in the order it came, so that a deep ranking stays deep.
        seen = {document.id for document in ranked}
        rest = [document for document in candidates if document.id not in seen]
        return Ranked([*ranked, *rest][: self.top_k], ranked.trace)


def both(condition: Any, own: Any) -> Any:
    """The filter of the command and the row's own, both of which a chunk must pass."""
    return {"$and": [condition, own]} if condition and own else own or condition


def make_retriever(settings: Settings, index: Any, ranking: str) -> TracedRetriever:
    """The retriever of a ranking, with the settings' own fields where the settings ask for that kind."""
    from rag_app.pipeline import bind
    from rag_app.retrieve import BM25Retriever, DenseRetriever, HybridRetriever

    kinds: dict[str, type[TracedRetriever]] = {"bm25": BM25Retriever, "dense": DenseRetriever}
    kind = kinds.get(ranking, HybridRetriever)
    given = settings.retrieve
    made: TracedRetriever = bind(given if isinstance(given, kind) else kind(top_k=given.top_k), index=index)
    return made


def read_queries(path: str) -> list[dict[str, Any]]:
    """The rows of a JSONL file of queries; ConfigError names the line that is none."""
    import json

    from rag_app.cli.common import file_lines, stdin_lines
    from rag_app.types import ConfigError

    rows = []
    for number, line in stdin_lines() if path == "-" else file_lines(path, "--queries:"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"--queries: line {number} of {path!r} is not JSON ({error})") from None
        if not isinstance(row, dict) or not isinstance(row.get("query"), str):
            raise ConfigError(f'--queries: line {number} of {path!r} has no "query"; write {{"query": "..."}}')
        rows.append(row)
    return rows


def hit_rows(found: Ranked) -> list[dict[str, Any]]:
    """The hits as the command prints them; the score is that of the last stage that ranked the hit."""
    rows = []
    reranked = "rerank" in found.trace.rankings
    for place, document in enumerate(found, start=1):
        stages = document.metadata.get("stages") or {}
        score = list(stages.values())[-1]["score"] if stages else 0.0
        if reranked and "rerank" not in stages:
            score -= 1  # it was not reranked: below everything that was, in its own order
        rows.append(
            {
                "rank": place,
                "id": document.id,
                "source": document.metadata.get("source"),
                "start": document.metadata.get("start_index"),
                "end": document.metadata.get("end_index"),
                "page": document.metadata.get("page"),
                "section_path": document.metadata.get("section_path") or [],
                "score": score,
                "text": document.page_content,
                "stages": stages,
            }
        )
    return rows


def _show(
    row: dict[str, Any], found: Any, searcher: Searcher, explain: str | None, condition: Any, as_json: bool
) -> None:
    from rag_app.cli.common import emit, warn

    query = row["query"]
    if isinstance(found, Exception):
        if as_json:
            emit({"query": query, "hits": [], "error": str(found), "timings": {}})
        else:
            warn(f"{query}: {found}")
        return
    account = _explained(searcher, found, explain, both(condition, row.get("filter"))) if explain else None
    hits = hit_rows(found)
    if as_json:
        timings = {**found.trace.timings, "total": sum(found.trace.timings.values())}
        result = {"query": query, "hits": hits, "timings": timings, "warnings": list(found.trace.warnings)}
        emit(result if account is None else {**result, "explain": account})
        return
    for message in found.trace.warnings:
        warn(message)
    if account is not None:
        typer.echo(str(account))
    else:
        _list(query, hits)


def _explained(searcher: Searcher, found: Ranked, chunk_id: str, condition: Any) -> Explanation:
    from rag_app.retrieve.explain import explain

    return explain(searcher.index, found.trace, chunk_id, filter=condition)


def _list(query: str, hits: list[dict[str, Any]]) -> None:
    """Three lines a hit, which can be read however narrow the terminal is: where it is, its ranks, its text."""
    from rich.padding import Padding
    from rich.text import Text

    from rag_app.cli.common import console

    out = console()
    if not hits:
        out.print(Text(f"nothing found for {query!r}"))
    for hit in hits:
        page = f", page {hit['page']}" if hit["page"] else ""
        stages = ", ".join(f"{name} {place['rank']}" for name, place in hit["stages"].items())
        text = " ".join(hit["text"].split())
        shown = text if len(text) <= _SHOWN else text[:_SHOWN].rstrip() + "..."
        where = f"{hit['source']}{page}  " if hit["source"] else ""
        out.print(Text.assemble((f"{hit['rank']:>3} {where}", "bold"), hit["id"]))
        out.print(Padding(Text(f"{hit['score']:.4f}  {stages}", style="dim"), (0, 0, 0, 4), expand=False))
        out.print(Padding(Text(shown), (0, 0, 0, 4), expand=False))
