"""The public names: each is there, each is documented, and none costs anything before it is used."""

from __future__ import annotations

import inspect

import pytest

import rag_app

NAMES = [name for name in rag_app.__all__ if name != "__version__"]


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_resolves_and_says_what_it_is(name: str) -> None:
    thing = getattr(rag_app, name)
    assert inspect.getdoc(thing)
    assert name in dir(rag_app)


def test_an_unknown_name_is_an_attribute_error_that_names_it() -> None:
    with pytest.raises(AttributeError, match="NoSuchThing"):
        _ = rag_app.NoSuchThing
