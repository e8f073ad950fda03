from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from rag_app.load.parsed import Parsed

pytestmark = pytest.mark.docs


def test_a_slide_is_a_page_with_title_lists_table_chart_and_notes(parse: Callable[..., Parsed]) -> None:
    import pptx
    from pptx.chart.data import CategoryChartData
    from pptx.enum.chart import XL_CHART_TYPE
    from pptx.util import Inches

    deck = pptx.Presentation()
    first = deck.slides.add_slide(deck.slide_layouts[1])
    first.shapes.title.text = "Pumps"
    frame = first.placeholders[1].text_frame
    frame.text = "Top"
    deeper = frame.add_paragraph()
    deeper.text, deeper.level = "Below", 1
    first.notes_slide.notes_text_frame.text = "Say hello."
    second = deck.slides.add_slide(deck.slide_layouts[5])
    second.shapes.title.text = "Numbers"
    table = second.shapes.add_table(2, 2, 0, 0, Inches(3), Inches(1)).table
    for place, text in enumerate(["a", "b", "1", "2"]):
        table.cell(place // 2, place % 2).text = text
    data = CategoryChartData()
    data.categories = ["2023", "2024"]
    data.add_series("Sales", (5, 6))
    second.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(2), data)
    out = io.BytesIO()
    deck.save(out)
    parsed = parse(out.getvalue(), "a.pptx")
    pages = [parsed.text[start:end].strip() for start, end, _ in parsed.pages]
    assert pages[0] == "Pumps\n\nTop\n- Below\n\nNotes: Say hello."
    assert pages[1].startswith("Numbers\n\n| a | b |\n| --- | --- |\n| 1 | 2 |")
    assert "|  | Sales |" in pages[1]
    assert "| 2024 | 6" in pages[1]
    assert [(level, title) for _, level, title in parsed.headings] == [(1, "Pumps"), (1, "Numbers")]
    assert parsed.metadata["page_count"] == 2
    assert parsed.metadata["document_type"] == "slides"
