"""E-mail and mailboxes: headers as metadata, the body as text, attachments as documents of their own."""

from __future__ import annotations

import email
import email.policy
import email.utils
import re
from collections.abc import Iterator
from dataclasses import replace
from email.message import EmailMessage, Message
from typing import Any

from rag_app.load.encoding import decode
from rag_app.load.html import parse_html
from rag_app.load.parsed import Failed, Fault, Parsed, ReadOptions, Result, TextBuilder, clean
from rag_app.load.read import attached

_FROM = re.compile(rb"^From [^\r\n]*\d{4}[^\r\n]*\r?\n", re.MULTILINE)
_WIDE = (b"\xff\xfe", b"\xfe\xff")


def read_email(data: bytes, name: str, options: ReadOptions) -> list[Result]:
    """The message (subject, then body), then its attachments; pictures are named in the metadata only."""
    if data.startswith(_WIDE):
        data = decode(data).text.encode("utf-8")
    message = email.message_from_bytes(data.lstrip(), policy=email.policy.default)
    facts = headers(message)
    if not facts and not data.strip():
        raise Fault("empty", "the message is empty")
    builder = TextBuilder()
    if facts.get("title"):
        builder.heading(1, facts["title"])
    body = _body(message)
    if body is not None:
        start = builder.block(body.text)
        builder.headings += [(start + at, level + 1, title) for at, level, title in body.headings]
    files = list(_attachments(message))
    facts.update({"attachments": [file for file, _, _ in files]} if files else {})
    parsed = builder.build("email", facts)
    results: list[Result] = [parsed if parsed.text else Failed("", "empty", "the message has no subject and no body")]
    for file, kind, content in files:
        if not kind.startswith(("image/", "audio/", "video/")) and "signature" not in kind:
            results += attached(content, file, options)
    return results


def read_mbox(data: bytes, name: str, options: ReadOptions) -> list[Result]:
    """The messages of a mailbox, numbered from 1: `box.mbox#1`, and their attachments below that."""
    starts = [
        m for m in _FROM.finditer(data) if m.start() == 0 or data[max(0, m.start() - 4) : m.start()].count(b"\n") > 1
    ]
    if not starts:
        raise Fault("broken", "the mailbox holds no message")
    results: list[Result] = []
    for number, match in enumerate(starts, start=1):
        end = starts[number].start() if number < len(starts) else len(data)
        raw = re.sub(rb"^>(>*From )", rb"\1", data[match.end() : end], flags=re.MULTILINE)
        try:
            found = read_email(raw, name, options)
        except Fault as fault:
            found = [Failed("", fault.error, fault.reason)]
        results += [replace(r, part=f"{number}#{r.part}" if r.part else str(number)) for r in found]
    return results


def headers(message: Message) -> dict[str, Any]:
    """Subject as title, sender as author, the date in ISO form, addresses and ids as written."""
    facts: dict[str, Any] = {}
    fields = {"Subject": "title", "From": "author", "To": "to", "Cc": "cc", "Message-ID": "message_id",
              "In-Reply-To": "in_reply_to"}  # fmt: skip
    for field, key in fields.items():
        if value := clean(_header(message, field)):
            facts[key] = value
    if date := clean(_header(message, "Date")):
        try:
            facts["created"] = email.utils.parsedate_to_datetime(date).isoformat()
        except (ValueError, TypeError, OverflowError):
            facts["date_as_written"] = date
    return facts


def _header(message: Message, name: str) -> str:
    try:
        value = str(message.get(name) or "")
    except Exception:  # the header parser trips over some malformed headers
        value = next((str(v) for k, v in message._headers if k.lower() == name.lower()), "")  # type: ignore[attr-defined]
    # Raw bytes that the header did not declare come as surrogates.
    if any("\ud800" <= c <= "\udfff" for c in value):
        try:
            value = decode(value.encode("utf-8", "surrogateescape")).text
        except (Fault, UnicodeEncodeError):
            value = value.encode("utf-8", "replace").decode("utf-8")
    return value


def _body(message: EmailMessage) -> Parsed | None:
    """The plain part, or the HTML part when there is no plain one worth reading."""
    plain = _parts(message, "text/plain")
    html = _parts(message, "text/html")
    text = "\n\n".join(part for part in map(_text, plain) if part.strip())
    if html and len(clean(text)) < 200:
        page = _page("\n".join(map(_text, html)))
        if page is not None and len(page.text) > 2 * len(clean(text)):
            return page
    text = re.sub(r"\n{3,}", "\n\n", re.sub(r"[^\S\n]+\n", "\n", text.replace("\r\n", "\n")))
    return Parsed(text, "email") if text.strip() else (_page("\n".join(map(_text, html))) if html else None)


def _page(source: str) -> Parsed | None:
    try:
        return parse_html(source, whole=True) if source.strip() else None
    except Fault:
        return None


def _parts(message: Message, kind: str) -> list[Message]:
    return [part for part in _leaves(message) if part.get_content_type() == kind and not _file_name(part)]


def _leaves(message: Message) -> Iterator[Message]:
    """The parts that hold content; a message inside a message is one such part."""
    if message.get_content_type() == "message/rfc822" or not message.is_multipart():
        yield message
        return
    for part in message.get_payload():
        if isinstance(part, Message):
            yield from _leaves(part)


def _text(part: Message) -> str:
    payload = part.get_payload(decode=True)
    if not isinstance(payload, bytes):
        return ""
    try:
        declared = part.get_content_charset()
    except Exception:
        declared = None
    if declared in (None, "us-ascii") or declared is None:
        return decode(payload).text if payload.strip() else ""
    try:
        return decode(payload, declared).text if payload.strip() else ""
    except Fault:
        return payload.decode("latin-1")


def _file_name(part: Message) -> str:
    try:
        return clean(part.get_filename() or "")
    except Exception:
        return "attachment"


def _attachments(message: Message) -> Iterator[tuple[str, str, bytes]]:
    """Name, kind and content of each attachment; a forwarded message is named by its subject."""
    for number, part in enumerate(_leaves(message), start=1):
        kind, name = part.get_content_type(), _file_name(part)
        if kind == "message/rfc822" and part is not message:
            inner = part.get_payload()
            if isinstance(inner, list) and inner and isinstance(inner[0], Message):
                subject = clean(_header(inner[0], "Subject")) or f"message {number}"
                yield name or f"{subject}.eml", kind, inner[0].as_bytes()
            continue
        payload = part.get_payload(decode=True)
        if name and isinstance(payload, bytes) and payload:
            yield name.replace("\\", "/").rsplit("/", 1)[-1], kind, payload
