"""HTML: the main text, with headings, lists, tables and code kept readable; scripts, styles and navigation left out."""

from __future__ import annotations

import re
from typing import Any

from rag_app.load.encoding import decode
from rag_app.load.html_blocks import Blocks
from rag_app.load.parsed import Fault, Parsed, ReadOptions, clean

_DECLARED = re.compile(
    rb"""<meta[^>]+charset\s*=\s*["']?\s*([\w.:-]+)|<\?xml[^>]+encoding\s*=\s*["']([\w.:-]+)""", re.I
)
_PROLOG = re.compile(r"^\s*<\?xml[^>]*\?>")
_NEVER = (
    "script", "style", "noscript", "template", "svg", "head", "iframe", "object", "embed", "canvas", "button", "select",
    "input", "textarea", "audio", "video", "map", "math-annotation",
)  # fmt: skip
_AROUND = ("nav", "footer", "aside", "menu", "dialog")
_ROLES = ("navigation", "banner", "contentinfo", "search", "menu", "menubar", "dialog", "complementary")
_CHROME = re.compile(
    r"(?:^|[\s_-])(?:nav|navbar|navbox|navigation|menu|sidebar|breadcrumbs?|cookies?|footer|masthead|advert\w*|ads?|share|"
    r"social|skip|toc|pagination|pager|popup|newsletter|editsection|noprint|catlinks|metadata|related)(?:$|[\s_-])",
    re.I,
)


def read_html(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """One document: the main part of the page, headings with their places; title, author, date as metadata."""
    match = _DECLARED.search(data[:4096])
    declared = (match[1] or match[2]).decode("ascii") if match else None
    found = decode(data, declared)
    note: dict[str, Any] = {"encoding": found.encoding, **({"encoding_guessed": True} if found.guessed else {})}
    return [parse_html(found.text, metadata=note)]


def parse_html(text: str, *, metadata: dict[str, Any] | None = None, whole: bool = False) -> Parsed:
    """The document of an HTML text; `whole` keeps navigation (a book's chapter or a mail has none)."""
    import lxml.html

    text = _PROLOG.sub("", text.replace("\x00", ""))
    if not text.strip():
        raise Fault("empty", "the page holds nothing")
    parser = lxml.html.HTMLParser(recover=True, huge_tree=True, encoding=None)
    try:
        tree = lxml.html.document_fromstring(text, parser=parser)
    except (lxml.etree.ParserError, ValueError) as error:
        raise Fault("broken", f"cannot be read as HTML: {error}") from None
    if any(entry.type_name == "ERR_RESOURCE_LIMIT" for entry in parser.error_log):
        raise Fault("broken", "elements nested too deeply to be read; what stands below level 2048 would be lost")
    facts = {**_facts(tree), **(metadata or {})}
    body = tree.find("body")
    body = tree if body is None else body
    _prune(body, _NEVER)
    root = body if whole else _main(body)
    parsed = _blocks(root)
    if not whole and len(parsed.text) < 0.1 * len(clean(body.text_content())) and len(parsed.text) < 400:
        parsed = _blocks(body)  # what looked like chrome was the page
    if "title" not in facts and parsed.headings:
        facts["title"] = parsed.headings[0][2]
    return Parsed(parsed.text, "html", facts, headings=parsed.headings)


def _blocks(root: Any) -> Parsed:
    blocks = Blocks()
    blocks.walk(root)
    return blocks.finish()


def _prune(root: Any, tags: tuple[str, ...]) -> None:
    import lxml.etree

    for element in list(root.iter()):
        if element is root or element.getparent() is None:
            continue
        style = (element.get("style") or "").replace(" ", "").lower() if isinstance(element.tag, str) else ""
        if (
            not isinstance(element.tag, str)
            or element.tag in tags
            or "hidden" in element.attrib
            or "display:none" in style
        ):
            if isinstance(element, lxml.etree._Entity):
                continue
            _drop(element)


def _drop(element: Any) -> None:
    """Remove an element and keep the text behind it."""
    parent = element.getparent()
    if element.tail:
        before = element.getprevious()
        if before is not None:
            before.tail = (before.tail or "") + element.tail
        else:
            parent.text = (parent.text or "") + element.tail
    parent.remove(element)


def _main(body: Any) -> Any:
    """A copy of the page's main element without navigation; the body's when no element holds most of the text."""
    import copy

    total = len(clean(body.text_content()))
    options = [*body.iter("main"), *body.xpath(".//*[@role='main']"), *body.iter("article")]
    articles = list(body.iter("article"))
    if len(articles) > 1:
        options = [element for element in options if element.tag != "article"]
    root = next((e for e in options if len(clean(e.text_content())) > max(200, 0.25 * total)), body)
    root = copy.deepcopy(root)
    root.tail = None
    for element in list(root.iter()):
        if element is not root and element.getparent() is not None and _is_chrome(element):
            _drop(element)
    return root


def _is_chrome(element: Any) -> bool:
    tag, role = element.tag, element.get("role")
    if tag in _AROUND or role in _ROLES or element.get("aria-hidden") == "true":
        return not any(True for _ in element.iter("h1")) or tag == "nav"
    names = f"{element.get('class') or ''} {element.get('id') or ''}"
    if tag == "header" or _CHROME.search(names):
        if any(True for _ in element.iter("h1")) or tag in ("body", "html"):
            return False
        text = clean(element.text_content())
        linked = sum(len(clean(a.text_content())) for a in element.iter("a"))
        return linked > 0.4 * len(text) or len(text) < 60
    return False


def _facts(tree: Any) -> dict[str, Any]:
    """Title, author, description, language and date as the page's head states them."""
    facts: dict[str, Any] = {}
    title = tree.find(".//title")
    if title is not None and clean(title.text_content()):
        facts["title"] = clean(title.text_content())
    if tree.get("lang"):
        facts["language"] = tree.get("lang")
    wanted = {"author": "author", "description": "description", "article:published_time": "created", "date": "created",
              "dcterms.created": "created", "keywords": "keywords", "article:author": "author"}  # fmt: skip
    for meta in tree.iter("meta"):
        key = wanted.get((meta.get("name") or meta.get("property") or "").lower())
        if key and key not in facts and clean(meta.get("content") or ""):
            facts[key] = clean(meta.get("content"))
    return facts
