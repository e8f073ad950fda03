"""A cross-encoder fitted by listwise cross-entropy, in a plain loop over torch and transformers."""

from __future__ import annotations

import os
import random
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rag_app.embed.packaged import packaged_folder
from rag_app.train.groups import Group
from rag_app.types import ConfigError, ModelError

if TYPE_CHECKING:
    import torch

Progress = Callable[[int, int, str], None]
PACKAGED = "packaged"
_WARM_UP = 0.1


def fit_cross_encoder(
    groups: Sequence[Group],
    *,
    base: str = PACKAGED,
    epochs: int = 2,
    max_tokens: int = 200,
    learning_rate: float = 5e-5,
    groups_per_step: int = 4,
    bf16: bool = False,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Any, Any]:
    """Model and tokenizer, fitted so that each group's first passage scores above the others.

    The loss is the cross-entropy of the softmax over a group's scores (Cao et al., "Learning to rank: from pairwise to
    listwise approach", ICML 2007, with one relevant passage). AdamW, the rate warming up over a tenth of the steps and
    falling to 0. `base` is a name or folder that transformers can load, or "packaged". Equal input and seed give equal
    weights on one machine.
    """
    import torch

    if not groups:
        raise ConfigError("there is nothing to learn from: no query has a relevant document in the index")
    state = torch.random.get_rng_state()
    torch.manual_seed(seed)
    try:
        model, tokenizer = load_base(base, max_tokens=max_tokens)
        model.train()
        optimizer = torch.optim.AdamW(model.parameters(), lr=learning_rate, weight_decay=0.01)
        order = random.Random(seed)
        batches = [batch for _ in range(epochs) for batch in _batches(groups, groups_per_step, order)]
        schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate(step, len(batches)))
        for done, batch in enumerate(batches, start=1):
            with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
                loss = _loss(model, tokenizer, batch, max_tokens)
            if not bool(torch.isfinite(loss)):
                raise ModelError(f"the loss is {float(loss)} at step {done}; lower the learning rate")
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            if progress is not None:
                progress(done, len(batches), "training")
    finally:
        torch.random.set_rng_state(state)
    return model.eval(), tokenizer


def load_base(base: str, *, max_tokens: int) -> tuple[Any, Any]:
    """The encoder with one score as its output, and its tokenizer; ModelError when it cannot be had."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    place = str(packaged_folder()) if base == PACKAGED else base
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, model_max_length=max_tokens)
        model = AutoModelForSequenceClassification.from_pretrained(place, num_labels=1)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise ModelError(f"the model {base!r} cannot be loaded ({reason}); name a folder, or 'packaged'") from error
    return model, tokenizer


def save(model: Any, tokenizer: Any, folder: Path) -> None:
    """The folder that `rerank.model` takes.

    Files are written beside and renamed: who has the old weights mapped, a server that reranks with them, keeps them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder) as beside:
        model.save_pretrained(beside)
        tokenizer.save_pretrained(beside)
        for file in sorted(Path(beside).iterdir()):
            os.replace(file, folder / file.name)


def _batches(groups: Sequence[Group], size: int, order: random.Random) -> list[list[Group]]:
    """The groups in a random order, `size` at a time; groups of like length together, which saves padding."""
    shuffled = order.sample(list(groups), len(groups))
    window = 16 * size
    near = [
        group
        for start in range(0, len(shuffled), window)
        for group in sorted(shuffled[start : start + window], key=lambda g: max(map(len, g.passages)))
    ]
    batches = [near[start : start + size] for start in range(0, len(near), size)]
    return order.sample(batches, len(batches))


def _rate(step: int, steps: int) -> float:
    warm = max(1, round(_WARM_UP * steps))
    return (step + 1) / warm if step < warm else max(0.0, (steps - step) / max(1, steps - warm))


def _loss(model: Any, tokenizer: Any, batch: Sequence[Group], max_tokens: int) -> torch.Tensor:
    """The mean over the batch's groups of -log softmax of the first passage's score."""
    import torch

    pairs = [(group.query, passage) for group in batch for passage in group.passages]
    encoded = tokenizer(
        [query for query, _ in pairs],
        [passage for _, passage in pairs],
        truncation="longest_first",
        max_length=max_tokens,
        padding=True,
        return_tensors="pt",
    )
    scores = model(**encoded).logits.float().squeeze(-1)
    parts = torch.split(scores, [len(group.passages) for group in batch])
    return -torch.stack([torch.log_softmax(part, dim=0)[0] for part in parts]).mean()
