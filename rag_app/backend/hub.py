"""Whether the hub of models can be asked."""

from __future__ import annotations

from pathlib import Path


def only_local(model: str, seconds: float = 5.0) -> bool:
    """Whether a model is a folder, or can only come from this machine because the hub does not answer.

    Its package would try again eleven times for each file, and say so each time: a minute and a half of warnings.
    """
    if Path(model).is_dir():
        return True
    from huggingface_hub import constants, get_session

    try:
        get_session().head(constants.ENDPOINT, timeout=seconds)
    except Exception:  # of whichever client the package has: no network, no proxy, offline by setting
        return True
    return False
