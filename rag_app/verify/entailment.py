"""The entailment level: windows of the sources as premises, the claim as hypothesis, any sentence-transformers
CrossEncoder with two or three labels.

Which output is which label is read from `config.id2label`, never assumed. Support is the greatest entailment over the
windows; contradiction counts only from windows that are about the claim; a failed check outranks entailment.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from rag_app.types import ConfigError, MissingExtraError, ModelError, Verdict
from rag_app.verify.asking import why
from rag_app.verify.foreign import FOREIGN
from rag_app.verify.lexical import VETO, Thresholds, verify_lexical
from rag_app.verify.source import IndexedSource
from rag_app.verify.statements import Statement
from rag_app.verify.support import support_of, without_markers

Scorer = Callable[[list[tuple[str, str]]], list[tuple[float, float]]]
"""(premise, hypothesis) pairs -> (entailment, contradiction) in [0, 1] for each; contradiction 0 with two labels."""

ABOUT = 0.4
"""From this coverage on a window is about the claim, so that its contradiction counts."""
WINDOWS = 6


@dataclass(frozen=True)
class EntailmentJudge:
    """The entailment level over a scorer of premise and hypothesis. A scorer that fails gives not_checkable."""

    scorer: Scorer
    thresholds: Thresholds
    supported: float = 0.5
    contradicted: float = 0.5
    level: str = field(default="entailment")

    def __call__(self, statement: Statement, sources: Sequence[IndexedSource]) -> Verdict:
        lexical = verify_lexical(statement, sources, self.thresholds)
        if not lexical.evidence and lexical.reason != FOREIGN:
            return lexical
        hypothesis = without_markers(statement.words).strip()
        windows = best_windows(hypothesis, sources) or first_windows(sources)
        if not windows:
            return lexical
        hypotheses = [hypothesis]
        if statement.context:
            # A pronoun's sentence is scored alone and behind the sentence that says what it stands for.
            hypotheses.append(f"{without_markers(statement.context).strip()} {hypothesis}")
            more = best_windows(hypotheses[1], sources)
            windows += [window for window in more if window[2] not in {text for _, _, text, _ in windows}]
        try:
            scores = self.scorer([(text, one) for one in hypotheses for _, _, text, _ in windows])
        except Exception as error:
            reason = f"the entailment model failed: {why(error)}"
            return replace(lexical, label="not_checkable", score=0.0, level=self.level, reason=reason)
        if not _are_shares(scores, len(windows) * len(hypotheses)):
            reason = "the entailment model gave no usable scores"
            return replace(lexical, label="not_checkable", score=0.0, level=self.level, reason=reason)
        alone, together = scores[: len(windows)], scores[len(windows) :]
        if together:
            alone = [(max(a[0], b[0]), a[1]) for a, b in zip(alone, together, strict=True)]
        return self._decide(lexical, windows, alone)

    def _decide(self, lexical: Verdict, windows: list[Window], scores: list[tuple[float, float]]) -> Verdict:
        place = max(range(len(windows)), key=lambda i: (scores[i][0], -i))
        support = scores[place][0]
        source, (first, last), _, _ = windows[place]
        evidence = (source.evidence(source.window_span(first, last)),)
        against = max((s[1] for s, w in zip(scores, windows, strict=True) if w[3] >= ABOUT), default=0.0)
        failed = next((c for c in lexical.checks if c.outcome == "fail" and c.name in VETO), None)
        if failed is not None:
            label = lexical.label
            score, reason = min(support, lexical.score), f"the check {failed.name!r} failed, which outranks entailment"
        elif against >= self.contradicted and against > support:
            label, score, reason = "contradicted", min(support, 1 - against), None
        elif support >= self.supported:
            label, score, reason = "supported", support, None
        else:
            label, score, reason = "not_found", support, None
        return replace(lexical, label=label, score=float(score), level=self.level, evidence=evidence, reason=reason)


def _are_shares(scores: Any, count: int) -> bool:
    """Are these `count` pairs of numbers in [0, 1]? A scorer may be anybody's."""
    try:
        return len(scores) == count and all(0 <= a <= 1 and 0 <= b <= 1 for a, b in scores)
    except (TypeError, ValueError):
        return False


Window = tuple[IndexedSource, tuple[int, int], str, float]


def best_windows(claim: str, sources: Sequence[IndexedSource]) -> list[Window]:
    """The best sentence and the best three sentences of each source, best sources first, with their coverage."""
    found: list[Window] = []
    for source in sources:
        support = support_of(claim, source)
        if support.best < 0:
            continue
        both = dict.fromkeys([(support.first, support.last), (support.best, support.best)])
        found.extend((source, u, source.window_span(*u).slice(source.text), support.coverage) for u in both)
    return sorted(found, key=lambda w: (-w[3], w[2]))[:WINDOWS]


def first_windows(sources: Sequence[IndexedSource]) -> list[Window]:
    """Three sentences each from the start of the sources: where no word is shared, none tells where to look."""
    found: list[Window] = []
    for first in range(0, max(map(len, sources), default=0), 3):
        for source in sources:
            if first < len(source) and len(found) < WINDOWS:
                last = min(first + 2, len(source) - 1)
                found.append((source, (first, last), source.window_span(first, last).slice(source.text), ABOUT))
    return found


def cross_encoder_scorer(model: Any, *, batch_size: int = 16) -> Scorer:
    """A scorer over a sentence-transformers CrossEncoder; ConfigError when its labels are unknown."""
    labels = {int(index): str(name).casefold() for index, name in dict(model.config.id2label).items()}
    entails, denies = _label_places(labels)

    def score(pairs: list[tuple[str, str]]) -> list[tuple[float, float]]:
        import torch

        identity = torch.nn.Identity()
        # Longest first wastes no padding; the order is restored below.
        order = sorted(range(len(pairs)), key=lambda i: -len(pairs[i][0]))
        logits = model.predict(
            [pairs[i] for i in order], batch_size=batch_size, activation_fn=identity, convert_to_tensor=True,
            show_progress_bar=False,
        )  # fmt: skip
        logits = logits.float().reshape(len(pairs), -1)
        if len(labels) == 1:
            shares = torch.sigmoid(logits)
            rows = [(float(row[0]), 0.0) for row in shares]
        else:
            shares = torch.softmax(logits, dim=-1)
            rows = [(float(row[entails]), float(row[denies]) if denies is not None else 0.0) for row in shares]
        results = [(0.0, 0.0)] * len(pairs)
        for place, row in zip(order, rows, strict=True):
            results[place] = row
        return results

    return score


def _label_places(labels: dict[int, str]) -> tuple[int, int | None]:
    """(place of entailment, place of contradiction or None) from the model's own label names."""
    entails = [i for i, name in labels.items() if name.startswith(("entail", "support", "consistent", "faithful"))]
    denies = [i for i, name in labels.items() if name.startswith(("contradict", "refut"))]
    if len(labels) == 1:
        return 0, None
    if len(entails) == 1:
        return entails[0], denies[0] if denies else None
    # Two anonymous labels (MiniCheck, HHEM): 1 is "supported" in both.
    if len(labels) == 2 and not entails and all(name.startswith("label_") for name in labels.values()):
        return 1, None
    raise ConfigError(f"the labels of the entailment model are {sorted(labels.values())}; none of them says entailment")


def load_cross_encoder(name: str, revision: str | None = None) -> Any:
    """The CrossEncoder of that name or path, on the CPU unless it says otherwise; ModelError when it cannot load."""
    try:
        from sentence_transformers import CrossEncoder
    except ModuleNotFoundError as error:
        if error.name != "sentence_transformers":
            raise
        raise MissingExtraError("sentence-transformers", "local", "the entailment level") from None
    try:
        return CrossEncoder(name, revision=revision)
    except Exception as error:
        raise ModelError(f"the entailment model {name!r} could not be loaded: {error}") from error
