"""Denials in Chinese and Japanese: what they deny, and expressions that only look like one."""

from __future__ import annotations

import pytest

from rag_app.verify.checks.han import denials_of


@pytest.mark.parametrize(
    ("text", "negator", "scope"),
    [
        ("博物馆周一不开放。", "不", "开放"),
        ("公司从未盈利。", "从未", "盈利"),
        ("该市没有机场。", "没有", "机场"),
        ("図書館は開いていません。", "ません", "開"),
        ("橋は開通しなかった。", "なかった", "開通"),
        ("彼は医者ではない。", "ない", "医者"),
        ("効果がない。", "ない", "効果"),
    ],
)
def test_a_denial_has_its_scope(text: str, negator: str, scope: str) -> None:
    (denial,) = denials_of(text)
    assert (denial.negator.slice(text), denial.scope.slice(text)) == (negator, scope)


@pytest.mark.parametrize(
    "text",
    [
        "他不仅是医生。",
        "非常好",
        "未来的城市",
        "無料です",
        "行かなければならない。",
        "そうかもしれない。",
        "数が少ない。",
        "不过如此",
    ],
)
def test_an_expression_that_looks_like_a_denial_is_none(text: str) -> None:
    assert denials_of(text) == []
