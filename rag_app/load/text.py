"""Plain text and source code."""

from __future__ import annotations

import re

from rag_app.load.encoding import Decoded, decode
from rag_app.load.parsed import Parsed, ReadOptions, clean

_LANGUAGES = {
    "python": ".py .pyi", "javascript": ".js .mjs .cjs .jsx", "typescript": ".ts", "tsx": ".tsx", "java": ".java",
    "kotlin": ".kt", "scala": ".scala", "go": ".go", "rust": ".rs", "c": ".c .h", "cpp": ".cc .cpp .cxx .hpp",
    "csharp": ".cs", "ruby": ".rb", "php": ".php", "swift": ".swift", "objc": ".m", "r": ".r", "julia": ".jl",
    "lua": ".lua", "perl": ".pl", "bash": ".sh .bash .zsh", "powershell": ".ps1", "sql": ".sql", "haskell": ".hs",
    "elixir": ".ex .exs", "erlang": ".erl", "clojure": ".clj", "dart": ".dart", "proto": ".proto", "solidity": ".sol",
    "zig": ".zig", "vue": ".vue", "css": ".css", "scss": ".scss", "yaml": ".yaml .yml", "toml": ".toml",
    "ini": ".ini .cfg", "xml": ".xml", "hcl": ".tf", "cmake": ".cmake", "latex": ".tex", "fortran": ".f90", "vb": ".vb",
    "groovy": ".groovy .gradle", "nim": ".nim", "ocaml": ".ml", "fsharp": ".fs", "asm": ".asm .s", "batch": ".bat",
}  # fmt: skip
CODE = {suffix: language for language, suffixes in _LANGUAGES.items() for suffix in suffixes.split()}
CODE_NAMES = {"dockerfile": "dockerfile", "makefile": "make", "cmakelists.txt": "cmake", "jenkinsfile": "groovy"}

MAIL_HEADER = re.compile(r"^(?:From|To|Cc|Date|Sent|Subject|Von|An|Datum|Betreff): \S", re.M)
_SUBJECT = re.compile(r"^(?:Subject|Betreff): (.+)$", re.M)
_ALONE = re.compile(r"(?:\A|\n[ \t]*\n)([^\s][^\n]{2,78})(?=\n[ \t]*\n)")
_PART = "§|Article|Section|Chapter|Clause|Annex|Appendix|Kapitel|Artikel"
_NUMBERED = re.compile(rf"(?:(\d+(?:\.\d+)*)\.?|(?:{_PART}) ?\w+\.?:?)\s+[^\W\d_a-z]")


def decoded(data: bytes, declared: str | None = None) -> tuple[str, dict[str, object]]:
    """The text of a file and what to note of its encoding."""
    found: Decoded = decode(data, declared)
    note: dict[str, object] = {"encoding": found.encoding}
    if found.guessed:
        note["encoding_guessed"] = True
    if found.repaired:
        note["encoding_repaired"] = True
    return found.text, note


def read_text(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """The text as it is; numbered lines and lines in capitals that stand alone are its headings."""
    text, note = decoded(data)
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    title = text_title(text)
    return [Parsed(text, "text", {**note, **({"title": title} if title else {})}, headings=text_headings(text))]


def text_headings(text: str) -> tuple[tuple[int, int, str], ...]:
    """`(start, level, title)` of lines between blank lines that a typist meant as headings: "2.1 Scope", "SCOPE"."""
    found = []
    for match in _ALONE.finditer(text):
        line = match[1].strip()
        number = _NUMBERED.match(line)
        letters = [c for c in line if c.isalpha()]
        if (
            len(letters) < 3
            or line[-1] in ".,;:!?"
            or not (number or all(c.isupper() or not c.islower() for c in letters))
        ):
            continue
        if number is None and not any(c.isupper() for c in letters):
            continue  # scripts without capitals
        level = number[1].count(".") + 1 if number is not None and number[1] else 1
        found.append((match.start(1), min(level, 6), clean(line)))
    return tuple(found)


def text_title(text: str) -> str:
    """The subject of a written-out mail, or a short first line that is no sentence; else the empty string."""
    head = text.lstrip("\ufeff \t\n")[:2000]
    if len(MAIL_HEADER.findall(head[:800])) >= 3 and (subject := _SUBJECT.search(head)):
        return clean(subject[1])
    first, _, rest = head.partition("\n")
    alone = not rest.strip() or rest.startswith("\n")
    usual = len(first) <= (90 if alone else 60) and first.strip()[-1:] not in (".", ",", ";", ":", "")
    return clean(first) if usual and ": " not in first and sum(c.isalpha() for c in first) >= 3 and rest.strip() else ""


def read_code(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """The source as it is, with the language by the file's name."""
    text, note = decoded(data)
    base = name.lower()
    suffix = base[base.rfind(".") :] if "." in base else ""
    language = CODE_NAMES.get(base) or CODE.get(suffix)
    return [Parsed(text, "code", {**note, **({"code_language": language} if language else {})})]
