"""Numbers that are names: what stands behind "version", "v" or "release" is compared as it is written."""

from __future__ import annotations

import re

_BEFORE = re.compile(r"\b(?:versi[oó]ns?:?\s|ver\.\s?|v)$", re.IGNORECASE)
_RELEASE = re.compile(r"\brelease:?\s$", re.IGNORECASE)
"""Also a verb: only a number with a point is a name behind it."""


def is_version(before: str, digits: str, *, counts: bool) -> bool:
    """Is it the number of a version, behind the text `before`? One that counts nothing is, and so is "2.4.1"."""
    if not (_BEFORE.search(before) or ("." in digits and _RELEASE.search(before))):
        return False
    return counts or digits.count(".") > 1
