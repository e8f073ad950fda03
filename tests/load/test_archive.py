from __future__ import annotations

import io
import zipfile

import pytest

from rag_app.load.archive import Archive, attribute, first, local, parse_xml
from rag_app.load.parsed import Fault, ReadOptions


def zipped(**parts: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name.replace("__", "/"), text)
    return out.getvalue()


def test_parts_are_found_without_regard_to_case_and_missing_ones_are_named() -> None:
    archive = Archive(zipped(Word__Document="<a/>"), ReadOptions())
    assert "/word/document" in archive
    assert local(archive.xml("word/document")) == "a"
    assert archive.optional_xml("gone.xml") is None
    with pytest.raises(Fault, match=r"'gone\.xml' is missing"):
        archive.xml("gone.xml")


def test_relations_resolve_against_their_part() -> None:
    links = (
        '<R><r Id="a" Type="x/image" Target="media/p%201.png"/><r Id="b" Type="x/up" Target="../top.xml"/>'
        '<r Id="c" Type="x/link" Target="https://example.org" TargetMode="External"/>'
        '<r Id="d" Type="x/abs" Target="/t.xml"/></R>'
    )
    assert Archive(zipped(a="x"), ReadOptions()).relations("word/document.xml") == {}
    archive = Archive(zipped(**{"word/_rels/document.xml.rels": links}), ReadOptions())
    assert archive.relations("word/document.xml") == {
        "a": ("image", "word/media/p 1.png"),
        "b": ("up", "top.xml"),
        "d": ("abs", "t.xml"),
    }


def test_what_would_unpack_to_more_than_the_limit_is_refused_unread() -> None:
    with pytest.raises(Fault, match="unpacks to") as caught:
        Archive(zipped(a=" " * 2_000_000), ReadOptions(max_expanded=1_000_000))
    assert caught.value.error == "too_large"


def test_xml_is_read_without_entities_and_with_patience() -> None:
    root = parse_xml(b'<a xmlns:x="urn:x"><b x:id="7"><c/></b></a>', "part")
    element = first(root, "b")
    assert element is not None
    assert attribute(element, "id") == "7"
    assert first(root, "b", "c", "d") is None
    assert local(parse_xml(b"<a><b></a>", "part")) == "a"
    with pytest.raises(Fault, match="entities"):
        parse_xml(b'<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>', "part")
    with pytest.raises(Fault, match="no XML"):
        parse_xml(b"not at all", "part")
