"""The verifier: a Runnable from a draft (or text) and its evidence to a report, and claim by claim by hand."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from langchain_core.documents import Document
from langchain_core.runnables import RunnableConfig, RunnableSerializable
from pydantic import ConfigDict, Field, PrivateAttr

from rag_app.cite import ParsedText
from rag_app.types import Claim, ConfigError, Span, UnsupportedClaimsError, Verdict
from rag_app.verify.answer import judge_statement, judge_statements
from rag_app.verify.asking import limited
from rag_app.verify.claimify import Claimifier
from rag_app.verify.entailment import EntailmentJudge, Scorer, cross_encoder_scorer, load_cross_encoder
from rag_app.verify.kinds import kind_of
from rag_app.verify.levels import Cascade, Judge, LexicalJudge
from rag_app.verify.lexical import Thresholds
from rag_app.verify.llm import LLMJudge
from rag_app.verify.policy import Policy, apply_policy
from rag_app.verify.report import VerificationReport, abstention_outcome
from rag_app.verify.review import append_flagged
from rag_app.verify.source import IndexedSource, SourceCache
from rag_app.verify.statements import Statement, statements_of

Level = Literal["lexical", "entailment", "llm"]


class Verifier(RunnableSerializable[dict[str, Any], VerificationReport]):
    """Checks an answer claim by claim against its evidence, or single claims against sources.

    Input: {"text": str or "draft": anything with `.text`, and "evidence" or "documents"} (a draft brings its own
    evidence); output: a VerificationReport. Sources may be texts or Documents; evidence spans refer to the document's
    text when a chunk says where it starts.
    """

    model_config = ConfigDict(extra="forbid")

    level: Level = "lexical"
    policy: Policy = "flag"
    on_unsupported: Literal["report", "raise"] = "report"
    supported_threshold: float | None = Field(default=None, ge=0, le=1)
    partial_threshold: float | None = Field(default=None, ge=0, le=1)
    cascade: bool = True
    entailment_model: str | None = None
    entailment_threshold: float = Field(default=0.5, ge=0, le=1)
    claimify: bool = False
    max_tokens: int | None = Field(
        default=4096, ge=1, description="The longest reply of a chat model that is asked here."
    )
    review_file: str | None = None
    chat_model: Any = Field(default=None, exclude=True, repr=False)
    scorer: Any = Field(default=None, exclude=True, repr=False)
    _cache: SourceCache = PrivateAttr(default_factory=SourceCache)
    _scorers: dict[str, Scorer] = PrivateAttr(default_factory=dict)

    @property
    def thresholds(self) -> Thresholds:
        """The settings' thresholds, where they are given, over the measured ones."""
        default = Thresholds.default()
        return Thresholds(
            default.supported if self.supported_threshold is None else self.supported_threshold,
            default.partial if self.partial_threshold is None else self.partial_threshold,
        )

    def judge(self) -> Judge:
        """The judge of the level that is set; with `cascade`, the lexical level decides what it is sure of."""
        thresholds = self.thresholds
        lexical = LexicalJudge(thresholds)
        if self.level == "lexical":
            return lexical
        last: Judge
        if self.level == "llm":
            if self.chat_model is None:
                raise ConfigError(
                    "verify.level is llm, but there is no chat model; name one in synthesize.model with "
                    "synthesize.kind=llm, give one as chat_model, or set verify.level to lexical"
                )
            last = LLMJudge(self._asked(), thresholds)
        else:
            last = EntailmentJudge(self._scorer(), thresholds, supported=self.entailment_threshold)
        return Cascade(lexical, [last], thresholds, level=self.level) if self.cascade else last

    def _asked(self) -> Any:
        """The chat model as it is asked here: its replies are short, and end."""
        return limited(self.chat_model, self.max_tokens)

    def _scorer(self) -> Scorer:
        if self.scorer is not None:
            given: Scorer = self.scorer
            return given
        if self.entailment_model is None:
            raise ConfigError(
                "verify.level is entailment, but verify.entailment_model names no model; "
                "give a cross-encoder by name or path, or set verify.level to lexical"
            )
        if self.entailment_model not in self._scorers:
            self._scorers[self.entailment_model] = cross_encoder_scorer(load_cross_encoder(self.entailment_model))
        return self._scorers[self.entailment_model]

    def verify_claim(self, claim: str | Claim, sources: Sequence[str | Document]) -> Verdict:
        """The verdict on one claim; a `Claim` keeps its kind, a text is classified."""
        started = time.perf_counter()
        if isinstance(claim, str):
            claim = Claim(claim, Span(0, len(claim)), kind=kind_of(claim))
        verdict = self.judge()(Statement(claim, claim.text), self._sources(sources))
        return replace(verdict, seconds=time.perf_counter() - started)

    def verify_claims(self, claims: Sequence[str | Claim], sources: Sequence[str | Document]) -> list[Verdict]:
        """The verdicts on several claims about the same sources, in order."""
        return [self.verify_claim(claim, sources) for claim in claims]

    def invoke(self, input: dict[str, Any], config: RunnableConfig | None = None, **kwargs: Any) -> VerificationReport:
        """The report on a draft; UnsupportedClaimsError with `on_unsupported="raise"` when a claim has no support."""
        return self._call_with_config(self._verify, input, config, run_type="chain", **kwargs)

    def _flagged(
        self, report: VerificationReport, question: str, evidence: Sequence[str | Document]
    ) -> VerificationReport:
        """The report, its unsupported claims appended to the review file; a warning when that cannot be written."""
        if self.review_file:
            try:
                append_flagged(self.review_file, question, report, evidence)
            except OSError as error:
                warning = f"the review file {self.review_file} cannot be written: {error.strerror}; name another"
                return replace(report, warnings=(*report.warnings, warning))
        return report

    def _verify(self, input: dict[str, Any]) -> VerificationReport:
        started = time.perf_counter()
        text, evidence = read_input(input)
        if is_abstained(input.get("draft")):
            return self._abstention(text, evidence)
        found = self.report(text, evidence)
        found = self._flagged(found, str(input.get("question", "")), evidence)
        report = apply_policy(
            found,
            self.policy,
            lambda edited: self.report(edited, evidence),
            chat_model=self._asked(),
            question=str(input.get("question", "")),
            evidence=evidence,
        )
        report = replace(report, seconds=time.perf_counter() - started)
        if self.on_unsupported == "raise" and report.unsupported() and not report.withdrawn:
            raise UnsupportedClaimsError(_complaint(report))
        return report

    def _abstention(self, text: str, evidence: Sequence[str | Document]) -> VerificationReport:
        """The report on a draft that abstains: its only verdicts are that the evidence speaks of what it misses."""
        statements, _ = statements_of(text, len(evidence))
        judge, sources = LexicalJudge(self.thresholds), self._sources(evidence)
        verdicts = [judge(statement, sources) for statement in statements if statement.claim.kind == "abstention"]
        wrong = tuple(verdict for verdict in verdicts if verdict.label == "contradicted")
        outcome = abstention_outcome(wrong) or "abstained"
        return VerificationReport(text, wrong, level=self.level, abstention=outcome, abstained=True)

    def report(self, text: str, evidence: Sequence[str | Document]) -> VerificationReport:
        """The report on `text`, whose markers number `evidence` from 1."""
        statements, (parsed, warnings) = self._statements(text, len(evidence))
        sources = self._sources(evidence)
        report = judge_statements(statements, sources, self.judge(), text=parsed.text, phantoms=parsed.phantoms)
        return replace(report, warnings=tuple(warnings))

    def stream_verdicts(self, input: dict[str, Any]) -> Iterator[Verdict]:
        """The verdicts one by one, each as soon as its claim is judged: those of the report with policy "flag"."""
        text, evidence = read_input(input)
        if is_abstained(input.get("draft")):
            yield from self._abstention(text, evidence).verdicts
            return
        statements, _ = self._statements(text, len(evidence))
        sources, judge = self._sources(evidence), self.judge()
        for statement in statements:
            yield judge_statement(statement, sources, judge).verdict

    def _sources(self, sources: Sequence[str | Document]) -> list[IndexedSource]:
        return [as_source(source, number, self._cache) for number, source in enumerate(as_sources(sources))]

    def _statements(self, text: str, count: int) -> tuple[list[Statement], tuple[ParsedText, list[str]]]:
        """The statements of a text with `count` sources; the text as parsed, and warnings."""
        statements, parsed = statements_of(text, count)
        if not self.claimify:
            return statements, (parsed, [])
        if self.chat_model is None:
            raise ConfigError("verify.claimify is set, but there is no chat model; give one, or unset it")
        statements, warnings = Claimifier(self._asked())(parsed.text, statements)
        return statements, (parsed, warnings)


def is_abstained(draft: Any) -> bool:
    """Did whoever wrote the draft abstain? Then there is nothing factual to check."""
    return bool(getattr(draft, "abstained", False))


def read_input(input: dict[str, Any]) -> tuple[str, Sequence[str | Document]]:
    """(text, evidence) of the Runnable's input; ConfigError when one is missing."""
    if not isinstance(input, Mapping):
        raise ConfigError(f'the verifier got a {type(input).__name__}; give it {{"text": ..., "documents": [...]}}')
    draft = input.get("draft")
    text = input.get("text", getattr(draft, "text", draft))
    evidence = input.get("documents", input.get("evidence"))
    if draft is not None and getattr(draft, "evidence", None) is not None:
        evidence = draft.evidence
    if not isinstance(text, str):
        raise ConfigError('the verifier needs the answer under "text" or "draft"')
    if evidence is None:
        raise ConfigError('the verifier needs the sources under "documents" or "evidence"')
    return text, as_sources(evidence)


def as_sources(given: Any) -> list[str | Document]:
    """The sources as a list: a single text or Document is one; ConfigError for anything else."""
    sources = [given] if isinstance(given, (str, Document)) else given
    if isinstance(sources, Mapping) or not isinstance(sources, Iterable):
        raise ConfigError(f"the sources are a {type(given).__name__}; give a list of texts or Documents")
    listed = list(sources)
    for source in listed:
        if not isinstance(source, (str, Document)):
            raise ConfigError(f"a source is a {type(source).__name__}; give texts or Documents")
    return listed


def as_source(source: str | Document, number: int, cache: SourceCache) -> IndexedSource:
    """A source text or document, indexed; a bare text is named by its number, from 1."""
    if isinstance(source, str):
        return cache.get(source, str(number + 1))
    metadata = source.metadata
    start = metadata.get("start_index") or 0
    try:
        offset = int(start)
    except (TypeError, ValueError):
        raise ConfigError(
            f"a source has the start_index {start!r}; give the place of its first character, or none"
        ) from None
    return cache.get(
        source.page_content,
        str(metadata.get("source") or number + 1),
        offset,
        str(source.id) if source.id else None,
    )


def _complaint(report: VerificationReport) -> str:
    unsupported = report.unsupported()
    first = unsupported[0]
    return (
        f"{len(unsupported)} of {len(report.verdicts)} claims are not supported by their evidence, "
        f'the first: "{first.claim.text}" ({first.label}); use on_unsupported="report" to get them all'
    )
