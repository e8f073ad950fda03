from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag_app.load.encoding import decode, repair
from rag_app.load.parsed import Fault

SAMPLES = [
    ("Однажды, в студеную зимнюю пору, я из лесу вышел.", ["cp1251", "cp866", "koi8_r"]),
    ("Die Größe der Übung beträgt fünf Meter – schöne Grüße aus Köln.", ["cp1252"]),
    ("L’été à Noël, ça coûte 5 € « très cher » où déjà vu.", ["cp1252"]),
    ("Zażółć gęślą jaźń. Łódź jest piękna, świętość.", ["cp1250"]),
    ("Η γρήγορη καφέ αλεπού πηδάει πάνω από το σκυλί.", ["cp1253"]),
    ("Pijamalı hasta yağız şoföre çabucak güvendi.", ["cp1254"]),
    ("דג סקרן שט בים מאוכזב ולפתע מצא חברה", ["cp1255"]),
    ("نص حكيم له سر قاطع وذو شأن عظيم مكتوب", ["cp1256"]),
    ("これは日本語のテキストです。文字コードを判定します。", ["cp932", "euc_jp"]),
    ("这是一个简体中文的文本文件，用于测试编码检测。", ["gb18030"]),
    ("這是一個繁體中文的文字檔案，用於測試編碼偵測。", ["big5"]),
    ("이것은 한국어 텍스트 파일입니다. 인코딩 감지를 시험합니다.", ["cp949"]),
    ("café", ["cp1252"]),
]


@pytest.mark.parametrize(("text", "encoding"), [(text, e) for text, encodings in SAMPLES for e in encodings])
def test_an_undeclared_encoding_is_recognized_and_reported_as_a_guess(text: str, encoding: str) -> None:
    found = decode(text.encode(encoding))
    assert found.text == text
    assert found.guessed


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]
)
def test_unicode_is_read_with_and_without_a_mark(encoding: str) -> None:
    assert decode("Plain words, größer.\nSecond line.".encode(encoding)).text == "Plain words, größer.\nSecond line."


@given(st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="\ufeff"), min_size=1))
def test_utf_8_is_never_guessed(text: str) -> None:
    found = decode(text.encode())
    assert not found.guessed
    assert found.text == text or found.repaired


def test_a_declared_encoding_is_believed_when_the_bytes_agree() -> None:
    assert decode("жест".encode("cp1251"), "windows-1251") == ("жест", "windows-1251", False, False)
    assert decode("größer".encode("cp1252"), "no-such-encoding").text == "größer"
    assert decode("“smart”".encode("cp1252"), "iso-8859-1").text == "“smart”"


def test_binary_data_is_refused_and_not_turned_into_letters() -> None:
    with pytest.raises(Fault, match="binary"):
        decode(bytes(range(256)) * 20)
    with pytest.raises(Fault, match="binary"):
        decode(b"abc\x00\x01\x02\x00\x00def")


def test_text_that_was_encoded_twice_is_mended() -> None:
    twice = "1986–1990, café, it’s".encode().decode("latin-1")
    found = decode(twice.encode())
    assert found.text == "1986–1990, café, it’s"
    assert found.repaired
    assert repair("it’s".encode().decode("cp1252")) == "it’s"
    assert repair("Straße, Ärger, ÃO") == "Straße, Ärger, ÃO"


def test_a_file_cut_inside_its_last_character_loses_only_that() -> None:
    assert decode("abc".encode("utf-16")[:-1]).text == "ab"
