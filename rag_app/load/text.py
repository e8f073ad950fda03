"""Plain text and source code."""

from __future__ import annotations

from rag_app.load.encoding import Decoded, decode
from rag_app.load.parsed import Parsed, ReadOptions

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
    """The text as it is."""
    text, note = decoded(data)
    return [Parsed(text, "text", note)]


def read_code(data: bytes, name: str, options: ReadOptions) -> list[Parsed]:
    """The source as it is, with the language by the file's name."""
    text, note = decoded(data)
    base = name.lower()
    suffix = base[base.rfind(".") :] if "." in base else ""
    language = CODE_NAMES.get(base) or CODE.get(suffix)
    return [Parsed(text, "code", {**note, **({"code_language": language} if language else {})})]
