"""The shape of the project: who may import whom, sizes, names, what the README promises, what the locks hold."""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from ingest.rejects import REJECT_CODES
from replay.problems import CODES

ROOT = Path(__file__).parent.parent
PACKAGES = ("ingest", "replay", "analytics", "dashboard", "cli")  # each may import those before it
FENCED = {"numba": "replay", "duckdb": "analytics", "distributed": "analytics", "streamlit": "dashboard"}
SOURCES = sorted([ROOT / "kwx.py", *(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))])
EVERYTHING = sorted([*SOURCES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py")])
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def imports(path: Path) -> Iterator[str]:
    """The top-level names that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{relative(path)}: relative import"
            yield node.module.split(".")[0]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_imports_point_one_way(path: Path) -> None:
    package = relative(path).split("/")[0]
    for name in imports(path):
        if name in PACKAGES and package in PACKAGES:
            assert PACKAGES.index(name) <= PACKAGES.index(package), f"{package} imports {name}"
        assert FENCED.get(name, package) == package, f"{name} outside {FENCED[name]}"
        assert name not in ("tests", "kwx"), f"imports {name}"


def test_the_bottom_vocabulary_imports_nothing_of_ours() -> None:
    assert not set(imports(ROOT / "ingest" / "tiles.py")) & set(PACKAGES)


def test_every_dependency_is_declared_and_used() -> None:
    used = {name for path in SOURCES for name in imports(path)} - set(sys.stdlib_module_names) - {*PACKAGES, "kwx"}
    asked = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"].get("cluster", [])]
    assert used == {re.match(r"[a-z0-9-]+", line).group() for line in asked}


def test_no_ruleset_is_named_in_code() -> None:
    folder = ROOT / "replay" / "rulesets"
    ids = {path.stem for path in folder.rglob("*.toml")} - {"base"}
    regions = {part for name in ids for part in re.split(r"[-_]", name)} - {"server", "node", "kwx", "table", "3d"}
    words = re.compile(rf"(?<![a-z])({'|'.join(sorted(ids | regions, key=len, reverse=True))})(?![a-z])")
    for path in SOURCES:
        text = path.read_text(encoding="utf-8").replace("node-kwx", "").replace("node_kwx", "")
        for number, line in enumerate(text.splitlines(), 1):
            assert not words.search(line), f"{relative(path)}:{number}: {line.strip()}"


@pytest.mark.parametrize("path", EVERYTHING, ids=relative)
def test_files_are_small_and_well_named(path: Path) -> None:
    assert path.stem not in ("util", "utils", "common", "helper", "helpers", "core", "misc")
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= 450
    assert not [line for line in lines if re.search(r"\b(TODO|FIXME|XXX)\b", line.replace("TODO|FIXME|XXX", ""))]


@pytest.mark.parametrize("path", SOURCES, ids=relative)
def test_public_names_are_documented(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not tree.body or ast.get_docstring(tree), "no module docstring"
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            assert ast.get_docstring(node), f"{node.name} has no docstring"


def test_ruff_has_nothing_to_say() -> None:
    run = subprocess.run([sys.executable, "-m", "ruff", "check", "."], cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr


def test_one_version() -> None:
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M).group(1)
    assert newest == PROJECT["version"]


def commands() -> list[str]:
    """The README's two commands, in order: look, test."""
    blocks = re.findall(r"```sh\n(.*?)```", README, re.S)
    return [line for block in blocks for line in block.splitlines() if line.startswith("python3 -m venv")]


def test_the_readme_and_continuous_integration_agree() -> None:
    look, test = commands()
    assert look.endswith("kwx demo")
    assert test in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_every_code_is_explained() -> None:
    text = (ROOT / "docs" / "log-format.md").read_text(encoding="utf-8")
    told = re.findall(r"^\| `([a-z0-9_]+)` \| ", text.partition("## 3.")[2].partition("## 4.")[0], re.M)
    assert sorted(told) == sorted([*REJECT_CODES, *CODES])


@pytest.mark.parametrize("name", ["constraints.txt", "constraints-test.txt"])
def test_locks_hold_names_versions_and_hashes_only(name: str) -> None:
    entry = re.compile(
        r"[a-z0-9][a-z0-9.-]*==[0-9][a-z0-9.]*( (;|and|or) [a-z_]+ [<>=!]+ '[A-Za-z0-9.]+')*"
        r"( --hash=sha256:[0-9a-f]{64})+"
    )
    text = (ROOT / name).read_text(encoding="utf-8").replace(" \\\n   ", "")
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    if name == "constraints-test.txt":
        assert lines.pop(0) == "-r constraints.txt"
    assert [line for line in lines if not entry.fullmatch(line)] == []


def test_locks_cover_the_direct_dependencies() -> None:
    locked = [set(re.findall(r"^([a-z0-9.-]+)==", (ROOT / name).read_text(encoding="utf-8"), re.M))
              for name in ("constraints.txt", "constraints-test.txt")]  # fmt: skip
    names = [[re.match(r"[a-z0-9-]+", line).group() for line in group]
             for group in (PROJECT["dependencies"], sum(PROJECT["optional-dependencies"].values(), []))]  # fmt: skip
    assert set(names[0]) <= locked[0]
    assert set(names[1]) <= locked[1]


def test_no_file_names_a_machine() -> None:
    """No committed text holds a path of one machine or the host of a package registry."""
    path_or_host = re.compile(r"(?<![\w.])/(work|root|farm)/|/tmp/\w|(pypi|pythonhosted)\.org|/opt/(pypi|wheels)")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        files = EVERYTHING  # an exported tree without its history
    else:
        files = [ROOT / name for name in listed.stdout.split("\0") if name]
    for path in files:
        if path.is_file() and path != Path(__file__):
            found = path_or_host.search(path.read_bytes().decode("utf-8", "replace"))
            assert not found, f"{relative(path)}: {found.group()}"


def test_no_compiled_function_calls_itself() -> None:
    """numba's cache loads a self-recursive function broken: the second process that runs it crashes."""
    for path in sorted((ROOT / "replay").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and {"jit", "inner"} & {
                ast.unparse(one) for one in node.decorator_list
            }:
                calls = {ast.unparse(one.func) for one in ast.walk(node) if isinstance(one, ast.Call)}
                assert node.name not in calls, f"{path.name}: {node.name}"
