"""Make the sample corpus's PDF: a product datasheet of two pages in two columns, with a table.

    python benchmarks/sample/make_datasheet.py [OUTPUT]

The same program gives the same bytes (reportlab's `invariant`), so the PDF can be made again and compared.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reportlab.lib import colors
from reportlab.lib.pagesizes import letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import inch
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import (
    BaseDocTemplate,
    Flowable,
    Frame,
    FrameBreak,
    NextPageTemplate,
    PageBreak,
    PageTemplate,
    Paragraph,
    Spacer,
    Table,
    TableStyle,
)

OUTPUT = Path(__file__).resolve().parents[2] / "rag_app" / "sample" / "documents" / "mx400_datasheet.pdf"

BLUE = colors.HexColor("#0a4c6a")
BODY = ParagraphStyle("body", fontName="Helvetica", fontSize=9.5, leading=13, spaceAfter=6)
TITLE = ParagraphStyle("title", fontName="Helvetica-Bold", fontSize=20, leading=24, textColor=BLUE)
LEAD = ParagraphStyle("lead", fontName="Helvetica-Oblique", fontSize=11, leading=15)
HEADING = ParagraphStyle(
    "heading", fontName="Helvetica-Bold", fontSize=11.5, leading=15, textColor=BLUE, spaceBefore=8, spaceAfter=3
)
CELL = ParagraphStyle("cell", fontName="Helvetica", fontSize=8.5, leading=10.5)

DESCRIPTION = [
    ("h", "Description"),
    (
        "p",
        "The MX-400 is a self-priming centrifugal pump for drinking water in large houses, orchards and small public "
        "networks. The impeller is cast in bronze and balanced to within half a gram, the housing is cast iron with a "
        "coating approved for drinking water. Every pump is tested for two minutes at 12 bar before it leaves "
        "Millhaven.",
    ),
    (
        "p",
        "The FlowKeeper controller is mounted at the factory. It starts the pump when the pressure falls below the "
        "value you set, stops it when nobody draws water, and protects it against running dry, overload and "
        "undervoltage.",
    ),
    ("h", "Where it fits"),
    (
        "p",
        "One MX-400 supplies a house with up to 60 fixtures or about four acres of drip irrigation. Up to four pumps "
        "can work in parallel under their controllers. For water with sand, put an AquaSieve AS-50 in front of the "
        "pump.",
    ),
    ("p", "The pump is not suited for sea water, for fuel, or for swimming pools with more than 3 mg/L of chlorine."),
    ("break", ""),
    ("h", "Limits of use"),
    (
        "p",
        "The water may have a temperature between 2 °C and 60 °C. The ambient temperature may not exceed 40 °C. The "
        "largest suction lift is 7 m at sea level, and the largest inlet pressure is 3 bar. The controller allows at "
        "most 40 starts per hour.",
    ),
    ("h", "Materials"),
    (
        "p",
        "Housing: cast iron with epoxy coating. Impeller: bronze. Shaft: stainless steel. Shaft seal: carbon against "
        "ceramic with a dark gray ring (revision B). O-rings: EPDM, approved for drinking water.",
    ),
    ("h", "Noise"),
    (
        "p",
        "At the rated point the sound pressure level is 69 dB(A) at a distance of 1 m, measured in the test hall on a "
        "rigid base. On a wooden floor use the rubber feet supplied with the pump.",
    ),
    ("h", "Certificates"),
    (
        "p",
        "The MX-400 carries the mark of the drinking-water laboratory in Ardmoor, certificate DW-2218, which is valid "
        "until November 30, 2027.",
    ),
]

INSTALLATION = [
    ("h", "Installation"),
    (
        "p",
        "Mount the pump level and leave 20 cm of free space behind the fan. The pipes must not rest on the pump. Use "
        "a fuse of 16 A with a slow characteristic and a residual current device of 30 mA.",
    ),
    (
        "p",
        "Fill the housing through the priming plug with about 2.5 liters of water before the first start. Priming "
        "takes up to four minutes at a lift of 7 m.",
    ),
    ("break", ""),
    ("h", "Maintenance"),
    (
        "p",
        "Check the pressure tank twice a year: the air pressure should be 0.2 bar below the starting pressure. Grease "
        "is not needed; the bearings are sealed and rated for 25,000 hours.",
    ),
    (
        "p",
        "After opening the pump, tighten the four cover bolts crosswise to 16 N·m. Use a new O-ring each time.",
    ),
    ("h", "Dimensions and connections"),
    (
        "p",
        "Length 462 mm, width 214 mm, height 338 mm with controller. Suction and pressure side: G 1 1/4, female "
        "thread. The power cable is 1.8 m long.",
    ),
    ("h", "Delivery"),
    (
        "p",
        "The carton holds the pump with controller, four rubber feet, a wrench, and a manual in English, Spanish and "
        "German. The regular delivery time from Millhaven is eight working days. A pallet holds 18 pumps.",
    ),
    ("h", "Revision"),
    (
        "p",
        "Revision D of February 10, 2025 replaces revision C of April 2023. Changed: highest water temperature, torque "
        "of the cover bolts, noise.",
    ),
]

TABLE = [
    ["Quantity", "Unit", "MX-200", "MX-400"],
    ["Rated motor power", "kW", "0.75", "1.5"],
    ["Rated voltage, 60 Hz", "V", "115/230", "230"],
    ["Rated current at 230 V", "A", "4.1", "7.6"],
    ["Largest flow", "l/min", "85", "140"],
    ["Shutoff head", "m", "42", "56"],
    ["Head at 60 l/min", "m", "27", "49"],
    ["Largest working pressure", "bar", "6", "8"],
    ["Efficiency, rated point", "%", "61", "66"],
    ["Weight", "kg", "14.2", "21.5"],
    ["Protection", "", "IP55", "IP55"],
    ["Insulation class", "", "F", "F"],
]


def flowables(parts: list[tuple[str, str]]) -> list[Flowable]:
    """Headings, paragraphs and column breaks for reportlab, in order."""
    kinds = {"h": HEADING, "p": BODY}
    return [FrameBreak() if kind == "break" else Paragraph(text, kinds[kind]) for kind, text in parts]


def table() -> Table:
    """The technical data of both pumps, one quantity a row."""
    widths = [1.54 * inch, 0.46 * inch, 0.68 * inch, 0.67 * inch]
    made = Table([[Paragraph(cell, CELL) for cell in row] for row in TABLE], colWidths=widths)
    made.setStyle(
        TableStyle(
            [
                ("BACKGROUND", (0, 0), (-1, 0), colors.HexColor("#dbe8ee")),
                ("LINEBELOW", (0, 0), (-1, -1), 0.4, colors.grey),
                ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
            ]
        )
    )
    return made


def footer(canvas: Canvas, template: BaseDocTemplate) -> None:
    canvas.saveState()
    canvas.setFont("Helvetica", 7.5)
    canvas.drawString(0.75 * inch, 0.5 * inch, "Merrowdale Pump & Filter, Inc. - Datasheet MX-400, revision D")
    canvas.drawRightString(7.75 * inch, 0.5 * inch, f"Page {template.page} of 2")
    canvas.restoreState()


def build(output: Path) -> None:
    """Write the datasheet to `output`."""
    template = BaseDocTemplate(
        str(output),
        pagesize=letter,
        title="Datasheet MX-400",
        author="Merrowdale Pump & Filter, Inc.",
        subject="Self-priming centrifugal pump",
        invariant=1,
        pageCompression=0,
    )
    left, right = (0.75 * inch, 4.4 * inch)
    width = 3.35 * inch
    top = Frame(left, 9.1 * inch, 7 * inch, 1.2 * inch, id="top", showBoundary=0)
    columns = [Frame(x, 0.8 * inch, width, 8.2 * inch, id=f"first-{x}") for x in (left, right)]
    second = [Frame(x, 0.8 * inch, width, 9.5 * inch, id=f"second-{x}") for x in (left, right)]
    template.addPageTemplates(
        [
            PageTemplate("first", [top, *columns], onPageEnd=footer),
            PageTemplate("second", second, onPageEnd=footer),
        ]
    )
    template.build(
        [
            Paragraph("Datasheet MX-400", TITLE),
            Spacer(1, 6),
            Paragraph("Self-priming centrifugal pump with FlowKeeper controller. Revision D, February 10, 2025.", LEAD),
            FrameBreak(),
            *flowables(DESCRIPTION),
            NextPageTemplate("second"),
            PageBreak(),
            Paragraph("Technical data", HEADING),
            table(),
            Spacer(1, 6),
            *flowables(INSTALLATION),
        ]
    )


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else OUTPUT)
