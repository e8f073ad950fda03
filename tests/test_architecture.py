"""The referee of the house: imports go down only, and the package imports light."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "rag_app"

FLOORS: tuple[tuple[str, ...], ...] = (
    ("lazy", "errors", "jsonable", "values"),
    ("types",),
    ("text",),
    ("filters", "trace"),
    ("html", "cite", "backend"),
    ("answer",),
    ("load", "split", "embed", "rerank", "sample"),
    ("index",),
    ("ingest", "retrieve", "expand", "synthesize", "verify"),
    ("settings",),
    ("pipeline",),
    ("integrate", "evaluate", "card", "doctor"),
    ("train",),
    ("server", "mcp"),
    ("cli",),
)
FLOOR = {name: floor for floor, names in enumerate(FLOORS) for name in names}
HEAVY = (
    "torch",
    "transformers",
    "sentence_transformers",
    "faiss",
    "langchain_openai",
    "langchain_community",
    "langchain_classic",
    "fastapi",
)
FILES = sorted(PACKAGE.rglob("*.py"))


def room(module: str) -> str | None:
    """The top-level room of a dotted `rag_app` module; None for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else None


def imported(path: Path) -> list[tuple[int, str]]:
    """Every `rag_app` module that the file imports, also inside functions; `if TYPE_CHECKING:` blocks do not run."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    idle: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            idle.update(inner for statement in node.body for inner in ast.walk(statement))
    found: list[tuple[int, str]] = []
    for node in ast.walk(tree):
        if node in idle:
            continue
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names if alias.name.split(".")[0] == "rag_app"]
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "rag_app":
            names = [f"rag_app.{alias.name}" for alias in node.names] if node.module == "rag_app" else [node.module]
            found += [(node.lineno, name) for name in names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            found.append((node.lineno, f"relative:{'.' * node.level}{node.module or ''}"))
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(PACKAGE)))
def test_imports_go_down_only(path: Path) -> None:
    relative = path.relative_to(PACKAGE)
    own = relative.parts[0].removesuffix(".py")
    if own == "__init__":
        return  # the package's front door names everything, lazily
    assert own in FLOOR, f"{relative} is in no room of the house; give it a floor in FLOORS"
    for line, module in imported(path):
        assert not module.startswith("relative:"), (
            f"{relative}:{line} imports {module[9:]}: write the module's full name"
        )
        other = room(module)
        if other is None or other == own or other.startswith("__"):
            continue
        assert other in FLOOR, f"{relative}:{line} imports {module}, which is in no room of the house"
        assert FLOOR[other] < FLOOR[own], (
            f"{relative}:{line}: {own} (floor {FLOOR[own]}) imports {module} (floor {FLOOR[other]})"
        )


def lazy_packages() -> list[str]:
    """The packages whose names are imported when they are first used."""
    return [
        ".".join(path.parent.relative_to(ROOT).parts)
        for path in FILES
        if path.name == "__init__.py" and "lazy_names(" in path.read_text(encoding="utf-8")
    ]


@pytest.mark.parametrize("package", lazy_packages())
def test_a_lazy_package_has_the_names_it_shows_to_type_checkers(package: str) -> None:
    module = importlib.import_module(package)
    tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
    shown = {a.name: n.module for n in block.body if isinstance(n, ast.ImportFrom) and n.module for a in n.names}
    at_once = {a.name for n in tree.body if isinstance(n, ast.ImportFrom) for a in n.names}
    assert set(shown) <= set(module.__all__)
    assert package == "rag_app" or set(module.__all__) <= {*shown, *at_once}
    for name, home in shown.items():
        assert getattr(module, name) is getattr(importlib.import_module(home), name)
        assert not home.endswith(f".{name}"), f"Python would find the module {home} under the name {name}"


def test_the_package_and_all_presets_load_nothing_heavy() -> None:
    program = (
        "import sys, rag_app\n"
        "from rag_app.settings import Settings, presets\n"
        "Settings().to_dict()\n"
        "for name in presets(): Settings.resolve(name, []).to_dict()\n"
        f"loaded = [name for name in {HEAVY!r} if name in sys.modules]\n"
        "assert not loaded, loaded\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_importing_the_package_loads_nothing_at_all() -> None:
    program = "import sys, rag_app; print([n for n in ('langchain_core', 'numpy', 'pydantic') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_command_line_registers_its_commands_without_heavy_imports() -> None:
    program = (
        "import sys\n"
        "from rag_app.cli import program\n"
        "program()\n"
        f"heavy = {(*HEAVY, 'numpy', 'pydantic', 'langchain_core', 'rich')!r}\n"
        "print([name for name in heavy if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_nothing_committed_uses_pickle_or_prints() -> None:
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
                assert path.parent.name == "cli", f"{path}:{node.lineno} prints"
            if isinstance(node, ast.Import) and any(alias.name == "pickle" for alias in node.names):
                assert path.name == "import_faiss.py", f"{path}:{node.lineno} imports pickle"
