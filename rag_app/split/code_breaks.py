"""Where source code may be cut: by its syntax tree, by a language's keywords, or by blank lines and indentation."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rag_app.types import Span

# Grammars that come as wheels of their own (extra `docs`); the module and the function that gives the language.
_GRAMMARS = {
    "bash": ("tree_sitter_bash", "language"),
    "c": ("tree_sitter_c", "language"),
    "cpp": ("tree_sitter_cpp", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "go": ("tree_sitter_go", "language"),
    "java": ("tree_sitter_java", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "python": ("tree_sitter_python", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
}
_LANGCHAIN_NAMES = {"javascript": "js", "typescript": "ts", "tsx": "ts", "solidity": "sol", "vb": "visualbasic6"}
_DEFINITION = re.compile(
    r"function|method|class|definition|declaration|impl_item|_item$|struct|enum|trait|interface|module|namespace|export"
)
_IMPORT = re.compile(r"import|include|using|use_declaration|package|require")
_BEFORE = re.compile(r"comment|attribute_item|decorator|annotation")
_DEEPEST = 40
_GLUED, _IMPORTS, _STATEMENT, _BLANK = 2.0, 0.6, 0.4, 0.1
_DEFINITION_COST = -0.6


class CodeBreaks(NamedTuple):
    """Offsets where a piece may begin with the cost of a cut there, what encloses what, and the import lines."""

    costs: dict[int, float]
    enclosing: list[tuple[Span, str]]
    imports: list[Span]


def code_breaks(text: str, language: str | None, too_big: Callable[[Span], bool]) -> CodeBreaks:
    """The breaks of source code; definitions are opened only where `too_big` says that they do not fit whole."""
    parser = _parser(language)
    if parser is not None:
        return _tree_breaks(text, parser, too_big)
    costs = _line_costs(text)
    costs.update(_keyword_costs(text, language))
    return CodeBreaks(costs, [], [])


def _parser(language: str | None) -> Any:
    """A tree-sitter parser; None when the language or its grammar is not there."""
    if language not in _GRAMMARS:
        return None
    module, function = _GRAMMARS[language]
    try:
        tree_sitter = importlib.import_module("tree_sitter")
        grammar = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name not in ("tree_sitter", module):
            raise
        return None
    return tree_sitter.Parser(tree_sitter.Language(getattr(grammar, function)()))


def _tree_breaks(text: str, parser: Any, too_big: Callable[[Span], bool]) -> CodeBreaks:
    places = _Places(text)
    found = CodeBreaks({}, [], [])
    _walk(parser.parse(places.data).root_node, 0, text, places, too_big, found)
    return found


class _Places:
    """Characters for tree-sitter's bytes."""

    def __init__(self, text: str) -> None:
        self.data = text.encode("utf-8", "surrogatepass")
        self._starts: Any = None
        if len(self.data) != len(text):
            codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
            widths = 1 + (codes >= 0x80) + (codes >= 0x800) + (codes >= 0x10000)
            self._starts = np.concatenate([[0], np.cumsum(widths)])

    def span(self, node: Any) -> Span:
        if self._starts is None:
            return Span(node.start_byte, node.end_byte)
        start, end = np.searchsorted(self._starts, [node.start_byte, node.end_byte])
        return Span(int(start), int(end))


def _walk(
    node: Any, depth: int, text: str, places: _Places, too_big: Callable[[Span], bool], found: CodeBreaks
) -> None:
    before: Any = None
    for child in node.children:
        span = places.span(child)
        # A look at a few characters only: a whole line would make minified code quadratic.
        own_line = not text[max(0, span.start - 200) : span.start].rpartition("\n")[2].strip()
        if child.is_named and own_line:
            cost = _cost(child, before, depth)
            # An outer node may begin at the same place: its price stands.
            found.costs.setdefault(span.start, cost)
        if depth == 0 and _IMPORT.search(child.type) and span.end > span.start:
            found.imports.append(span)
        if child.is_named:
            before = child
        if depth < _DEEPEST and child.child_count and too_big(span):
            if _DEFINITION.search(child.type):
                found.enclosing.append((span, _signature(text, span)))
            _walk(child, depth + 1, text, places, too_big, found)


def _cost(node: Any, before: Any, depth: int) -> float:
    """What a cut before `node` costs: little before a definition, much behind the comment that belongs to it."""
    gap = node.start_point[0] - before.end_point[0] if before is not None else 2
    if before is not None and _BEFORE.search(before.type) and gap <= 1:
        return _GLUED
    if _IMPORT.search(node.type) and before is not None and _IMPORT.search(before.type):
        return _IMPORTS
    lines = node.end_point[0] - node.start_point[0] + 1
    if lines > 1 and _DEFINITION.search(node.type):
        return _DEFINITION_COST + 0.1 * depth
    if _BEFORE.search(node.type) and gap > 1:
        return _DEFINITION_COST / 2 + 0.1 * depth
    return (_BLANK if gap > 1 else _STATEMENT) + 0.05 * depth


def _signature(text: str, span: Span) -> str:
    """The first line of a definition that is no decorator, without what opens its body."""
    lines = span.slice(text).split("\n", 12)
    line = next((line for line in lines if line.strip() and not line.lstrip().startswith(("@", "#["))), lines[0])
    return line.strip().rstrip("{:").rstrip()[:200]


def _keyword_costs(text: str, language: str | None) -> dict[int, float]:
    """Breaks at the keywords that LangChain knows for a language without a grammar; the first ones weigh most."""
    from langchain_text_splitters import Language, RecursiveCharacterTextSplitter

    name = _LANGCHAIN_NAMES.get(language or "", language)
    if name not in {member.value for member in Language}:
        return {}
    costs: dict[int, float] = {}
    try:
        separators = RecursiveCharacterTextSplitter.get_separators_for_language(Language(name))
    except ValueError:  # named, but without separators
        return {}
    words = [separator for separator in separators if separator.strip()]
    for rank, separator in enumerate(words):
        cost = _DEFINITION_COST + 0.8 * rank / len(words)
        for match in re.finditer(separator if separator.startswith(r"\n") else re.escape(separator), text):
            place = match.start() + (len(match.group()) - len(match.group().lstrip("\n")))
            costs.setdefault(place, cost)
    return costs


def _line_costs(text: str) -> dict[int, float]:
    """Breaks at lines: good after a blank line at the outermost indentation, bad inside a block."""
    costs: dict[int, float] = {}
    blank, place = True, 0
    for line in text.split("\n"):
        body = line.strip()
        if body:
            indented = line[0] in " \t"
            closing = body[0] in ")]}" or body.startswith(("end", "else", "elif", "except", "finally"))
            start = place + len(line) - len(line.lstrip())
            if closing:
                costs[start] = _GLUED
            elif blank:
                costs[start] = _BLANK if indented else _DEFINITION_COST / 2
            else:
                costs[start] = _STATEMENT + (0.1 if indented else 0.0)
        blank = not body
        place += len(line) + 1
    return costs


def used_imports(text: str, imports: Sequence[Span], chunk: Span, *, most: int = 5) -> list[str]:
    """The import lines before the chunk whose names occur in it, at most `most`."""
    words = set(re.findall(r"[^\W\d]\w*", chunk.slice(text)))
    found = []
    for span in imports:
        line = " ".join(span.slice(text).split())[:200]
        names = set(re.findall(r"[^\W\d]\w*", line)) - {"import", "from", "as", "use", "include", "using", "static"}
        if span.end <= chunk.start and names & words:
            found.append(line)
    return found[:most]
