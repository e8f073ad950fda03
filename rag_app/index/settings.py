"""What an index is built with; all of it stands in the manifest."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_serializer

from rag_app.text import Analyzer


class BM25Settings(BaseModel):
    """The formula of BM25. `lucene` keeps every idf above zero; `okapi`, `plus` and `l` are those of rank-bm25.

    Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009; Lv and Zhai, "Lower-bounding
    term frequency normalization", CIKM 2011 (`plus`), "When documents are very long, BM25 fails!", SIGIR 2011 (`l`).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    variant: Literal["lucene", "okapi", "plus", "l"] = "lucene"
    k1: float = Field(default=1.2, ge=0)
    b: float = Field(default=0.75, ge=0, le=1)
    delta: float | None = Field(default=None, ge=0, description="plus: 1, l: .5 when not given")
    epsilon: float = Field(default=0.25, ge=0, description="okapi: a negative idf becomes epsilon x the mean idf")


class IndexSettings(BaseModel):
    """Analyzer, formula, and how vectors are searched.

    `flat` is exact. `hnsw` (a graph: slow to build, fastest to ask) and `int8` (8 bits a number) propose rows that are
    then scored exactly; filters stay complete. Both pay from some 10,000 chunks on; their recall is in the report.

    A subclass of `Analyzer` with its own `index_terms` and `query_terms` may stand in for it. The manifest keeps the
    name of its class, which is never imported: pass it again to open the index.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Literal["local"] = "local"
    analyzer: Analyzer = Field(default_factory=Analyzer)
    bm25: BM25Settings = Field(default_factory=BM25Settings)
    dense: Literal["flat", "hnsw", "int8"] = "flat"
    embedding_cache: bool = Field(
        default=True, description="keep vectors by content, so that nothing is embedded twice"
    )
    lock_timeout: float = Field(default=60.0, ge=0, description="seconds a second writer waits for the first")
    flush_chunks: int = Field(default=20_000, ge=1, description="chunks held in memory before a segment is written")
    segments_per_tier: int = Field(default=6, ge=2, description="segments of about one size before they are merged")

    @field_serializer("analyzer")
    def _with_its_class(self, analyzer: Analyzer) -> dict[str, Any]:
        own = (
            {}
            if type(analyzer) is Analyzer
            else {"class": f"{type(analyzer).__module__}.{type(analyzer).__qualname__}"}
        )
        return {**analyzer.model_dump(mode="json"), **own}
