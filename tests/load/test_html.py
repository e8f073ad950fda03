from __future__ import annotations

from collections.abc import Callable

from rag_app.load.parsed import Failed, Parsed

PAGE = """<!doctype html><html lang="en"><head><title>The page</title><meta name="author" content="A. Writer">
<style>p {color: red}</style><script>var hidden = 1;</script></head><body>
<nav><a href="/">Home</a> <a href="/x">Elsewhere</a></nav><div class="sidebar"><a href="/y">Sidebar link</a></div>
<main><h1>Pumps</h1><p>The pump runs at <b>5&nbsp;bar</b>.<br>It is loud.</p>
<h2>Parts</h2><ul><li>Filter<ul><li>paper</li></ul></li><li>Hose</li></ul><ol><li>Open</li><li>Close</li></ol>
<table><tr><th>Part</th><th>Price</th></tr><tr><td rowspan="2">Hose</td><td>5 €</td></tr><tr><td>6 €</td></tr></table>
<pre>if x:
    run()</pre><p hidden>secret</p><p style="display: none">secret</p></main>
<footer>Imprint</footer></body></html>"""


def test_the_main_text_is_readable_and_the_frame_is_left_out(parse: Callable[..., Parsed]) -> None:
    parsed = parse(PAGE, "page.html")
    assert parsed.text == (
        "Pumps\n\nThe pump runs at 5 bar.\nIt is loud.\n\nParts\n\n- Filter\n  - paper\n- Hose\n\n1. Open\n2. Close\n\n"
        "| Part | Price |\n| --- | --- |\n| Hose | 5 € |\n| Hose | 6 € |\n\n```\nif x:\n    run()\n```"
    )
    assert [(parsed.text[start : start + len(title)], level) for start, level, title in parsed.headings] == [
        ("Pumps", 1),
        ("Parts", 2),
    ]
    assert parsed.metadata["title"] == "The page"
    assert parsed.metadata["author"] == "A. Writer"
    assert parsed.metadata["language"] == "en"


def test_a_page_of_links_only_keeps_its_text(parse: Callable[..., Parsed]) -> None:
    assert parse("<body><nav><a href=x>One</a><a href=y>Two</a></nav></body>", "a.html").text


def test_layout_tables_are_read_as_text_and_data_tables_inside_stay_tables(parse: Callable[..., Parsed]) -> None:
    page = "<table><tr><td><p>Left</p></td><td><table><tr><td>a</td><td>b</td></tr></table></td></tr></table>"
    assert parse(page, "a.html").text == "Left\n\n| a | b |"


def test_the_encoding_is_the_declared_one(parse: Callable[..., Parsed]) -> None:
    page = '<meta charset="windows-1251"><p>Привет, мир</p>'
    assert parse(page.encode("cp1251"), "a.html").text == "Привет, мир"
    assert parse('<?xml version="1.0" encoding="utf-8"?><html><body><p>ü</p></body></html>', "a.xhtml").text == "ü"


def test_text_behind_a_removed_element_stays(parse: Callable[..., Parsed]) -> None:
    assert parse("<p>a<script>x</script>b <!-- note -->c&shy;d</p>", "a.html").text == "ab cd"


def test_a_page_without_text_and_one_nested_too_deeply_fail(fail: Callable[..., Failed]) -> None:
    assert fail("<script>x</script>", "a.html").error == "empty"
    assert fail("<div>" * 50_000 + "x", "a.html").error == "broken"


def test_spans_of_a_thousand_cells_do_not_blow_up(parse: Callable[..., Parsed]) -> None:
    row = "<td rowspan=1000 colspan=1000>x</td>" * 50
    assert len(parse(f"<table><tr>{row}</tr>{'<tr><td>y</td></tr>' * 50}</table>", "a.html").text) < 200_000


def test_text_that_the_parser_would_drop_is_a_failure_not_a_loss(fail: Callable[..., Failed]) -> None:
    failure = fail("<html><body>start" + "<div>" * 3000 + "deep", "a.html")
    assert failure.error == "broken"
    assert "deep" in failure.reason
