"""The shape of the code: layers, cycles, sizes, and what a hook's hot path may import."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import TREE, Repo
from memhooks.hooks import cli
from memhooks.hooks.install import own

ROOT = Path(__file__).parents[2]
FOLDERS = ("hooks", "memory", "templates")
SOURCES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))

MODULE_LINES, FUNCTION_LINES, POSITIONAL = 300, 40, 4
# What is larger than the limits, and why.
LARGER = {"memory/vectors.py:put": "a row's values, in the order of its columns"}

# Too slow for a user who waits at every start; see also the budgets of tests/bench.
FORBIDDEN = {
    "argparse", "dataclasses", "importlib.metadata", "importlib.resources", "jinja2", "logging", "numpy", "pathlib",
    "shutil", "subprocess", "tempfile", "tomllib", "typing", "watchdog",
}  # fmt: skip


def imported(path: Path, *, everywhere: bool) -> set[str]:
    """Return the modules of ours that a file imports, at its top or everywhere but for type checking."""
    found = set()
    package = ("memhooks", *path.relative_to(ROOT).with_suffix("").parts[:-1])
    tree = ast.parse(path.read_text())
    hidden = {
        id(inner)
        for node in ast.walk(tree)
        if (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        or (not everywhere and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level and id(node) not in hidden:
            base = package[: len(package) - node.level + 1] + tuple(
                (node.module or "").split(".") if node.module else ()
            )
            for alias in node.names:
                whole = ROOT.joinpath(*base[1:], alias.name)
                named = (*base, alias.name) if whole.with_suffix(".py").exists() else base
                found.add(".".join(named))
    return found


def module_name(path: Path) -> str:
    return ".".join(("memhooks", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


def test_memory_never_imports_hooks() -> None:
    """The storage module stands alone."""
    for path in SOURCES:
        if path.is_relative_to(ROOT / "memory"):
            wrong = {name for name in imported(path, everywhere=True) if name.startswith("memhooks.hooks")}
            assert not wrong, f"{path} imports {wrong}"


def test_package_imports_itself_relatively() -> None:
    """The folders read as they lie, whatever they are called once installed."""
    for path in SOURCES:
        assert not re.search(r"^\s*(from|import) memhooks", path.read_text(), re.M), path


def test_imports_have_no_cycle() -> None:
    """No module needs itself while it is being loaded."""
    graph = {module_name(path): imported(path, everywhere=False) for path in SOURCES}
    state: dict[str, str] = {}

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert state.get(name) != "open", f"cycle: {' -> '.join((*trail, name))}"
        if name not in state:
            state[name] = "open"
            for other in graph.get(name, ()):
                visit(other, (*trail, name))
            state[name] = "done"

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_code_stays_small(path: Path) -> None:
    """A module is read in one sitting, a function in one look."""
    name = str(path.relative_to(ROOT))
    text = path.read_text()
    assert text.count("\n") <= MODULE_LINES or name in LARGER
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            where = f"{name}:{node.name}"
            doc = node.body[0] if ast.get_docstring(node) else None
            lines = (node.end_lineno or 0) - node.lineno + 1
            lines -= (doc.end_lineno or 0) - doc.lineno + 1 if doc else 0
            assert lines <= FUNCTION_LINES or where in LARGER, f"{where} has {lines} lines"
            taken = [one.arg for one in node.args.posonlyargs + node.args.args if one.arg not in ("self", "cls")]
            assert len(taken) <= POSITIONAL or where in LARGER, f"{where} takes {len(taken)} positional arguments"


def test_broad_except_only_at_boundaries() -> None:
    """An error that nobody foresaw ends at the command's boundary or at the watcher's loop, nowhere else."""
    allowed = {"hooks/cli.py", "hooks/mcp.py", "hooks/watch_project.py"}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler) and ast.unparse(node.type or ast.Name("bare")) in (
                "bare",
                "Exception",
            ):
                assert str(path.relative_to(ROOT)) in allowed, f"{path}:{node.lineno}"


def test_package_list_names_every_package() -> None:
    """The list in pyproject.toml is written by hand."""
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    there = {
        module_name(path).rpartition(".")[0] if path.name != "__init__.py" else module_name(path) for path in SOURCES
    }
    assert listed == there


@pytest.mark.parametrize("hook", ["session-start", "prompt", "index", "guard"])
def test_hook_imports_nothing_slow(repo: Repo, hook: str) -> None:
    """A hook with work to do loads none of the slow modules."""
    repo.mem("remember", "The token rotates every hour", "--kind", "decision")
    repo.write("MEMORY.md", "# Notes\n")
    repo.git("add", "MEMORY.md")
    words = ["post-commit"] if hook == "index" else []
    script = (
        f"import sys; sys.path.insert(0, {str(TREE)!r})\n"
        "from memhooks.hooks.cli import main\n"
        f"code = main(['hook', {hook!r}, *{words!r}])\n"
        "print(code, *sorted(sys.modules), file=sys.stderr)"
    )
    event = '{"session_id":"s","source":"startup","prompt":"how does the token rotate?"}'
    done = repo.run(sys.executable, "-I", "-c", script, stdin=event)
    code, *loaded = done.stderr.split()
    assert code == "0"
    assert not (repo.path / ".mem" / "hooks.log").exists(), (repo.path / ".mem" / "hooks.log").read_text()
    assert not FORBIDDEN & set(loaded)


def test_tests_run_away_from_the_real_home(home: Path) -> None:
    """What asks for the home folder gets the test's own."""
    import pwd

    asked = subprocess.run(["git", "config", "--global", "x.y", "z"], capture_output=True, check=False)
    assert asked.returncode == 0
    assert (home / ".gitconfig").exists()
    assert Path.home() == home != Path(pwd.getpwuid(__import__("os").getuid()).pw_dir)


def test_hooks_that_install_knows_are_those_of_the_command() -> None:
    """An entry of ours is recognised whatever hook it names."""
    assert set(own.HOOKS) == set(cli.HOOKS)
