from __future__ import annotations

from email.message import EmailMessage

from rag_app.load.parsed import Failed, Parsed, ReadOptions, Result
from rag_app.load.read import read


def message(subject: str = "Größe", text: str = "Hello\n\n\n\nthere") -> EmailMessage:
    mail = EmailMessage()
    mail["Subject"] = subject
    mail["From"] = "Ann <ann@example.org>"
    mail["To"] = "bob@example.org"
    mail["Date"] = "Fri, 16 Dec 2022 17:04:16 -0500"
    mail.set_content(text)
    return mail


def load(mail: EmailMessage, name: str = "a.eml") -> list[Result]:
    return read(mail.as_bytes(), name, ReadOptions())


def test_headers_are_metadata_and_the_body_is_text() -> None:
    (parsed,) = load(message())
    assert isinstance(parsed, Parsed)
    assert parsed.text == "Größe\n\nHello\n\nthere"
    assert parsed.metadata["title"] == "Größe"
    assert parsed.metadata["author"] == "Ann <ann@example.org>"
    assert parsed.metadata["created"] == "2022-12-16T17:04:16-05:00"
    assert parsed.metadata["document_type"] == "email"


def test_attachments_are_documents_of_their_own_and_pictures_only_named() -> None:
    mail = message()
    mail.add_attachment(b"a,b\n1,x\n2,y\n", maintype="text", subtype="csv", filename="t.csv")
    mail.add_attachment(b"\x89PNG", maintype="image", subtype="png", filename="p.png")
    mail.add_attachment(b"no pdf", maintype="application", subtype="pdf", filename="r.pdf")
    mail.add_attachment(message("Inner", "Deep."))
    parsed, table, broken, inner = load(mail)
    assert isinstance(parsed, Parsed)
    assert parsed.metadata["attachments"] == ["t.csv", "p.png", "r.pdf", "Inner.eml"]
    assert isinstance(table, Parsed)
    assert (table.part, table.text) == ("t.csv", "a: 1; b: x\na: 2; b: y")
    assert isinstance(broken, Failed)
    assert (broken.part, broken.error) == ("r.pdf", "broken")
    assert isinstance(inner, Parsed)
    assert inner.text == "Inner\n\nDeep."


def test_html_is_read_when_there_is_no_plain_part_worth_reading() -> None:
    mail = message(text="See HTML.")
    mail.add_alternative("<h2>Offer</h2><p>" + "The pump costs five euros. " * 5 + "</p>", subtype="html")
    (parsed,) = load(mail)
    assert isinstance(parsed, Parsed)
    assert "The pump costs five euros." in parsed.text
    assert parsed.headings[1][1:] == (3, "Offer")


def test_a_mailbox_gives_each_message_its_number() -> None:
    box = b"".join(
        b"From ann@example.org Fri Dec 16 17:04:16 2022\n" + message(f"S{n}", ">From here\nx").as_bytes() + b"\n\n"
        for n in (1, 2)
    )
    results = read(box, "a.mbox", ReadOptions())
    assert [(r.part, r.text) for r in results if isinstance(r, Parsed)] == [
        ("1", "S1\n\nFrom here\nx"),
        ("2", "S2\n\nFrom here\nx"),
    ]


def test_an_undeclared_charset_and_a_bad_date_are_borne() -> None:
    raw = b"From: a@b\nSubject: T\nDate: yesterday\nContent-Type: text/plain\n\n" + "Привет, как дела".encode("cp1251")
    (parsed,) = read(raw, "a.eml", ReadOptions())
    assert isinstance(parsed, Parsed)
    assert parsed.text == "T\n\nПривет, как дела"
    assert parsed.metadata["date_as_written"] == "yesterday"


def test_messages_inside_messages_end_somewhere() -> None:
    mail = message("0")
    for n in range(1, 10):
        outer = message(str(n))
        outer.add_attachment(mail)
        mail = outer
    last = load(mail)[-1]
    assert isinstance(last, Failed)
    assert last.error == "nested"
