"""The rules of the house, read from the source: floors, sizes, and who may touch the machine.

Floors (ARCHITECTURE.md): imports point down only, and rooms of one floor do not import each
other. A new module or folder fails until it has a place here. The package of published studies
stands beside the house: it may use what INNER_MODULES lists, and lsmtune never imports it.
"""

import ast
import io
import re
import tokenize
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from lsmtune.entries import ENGINES
from lsmtune.study_keys import DEFAULT_ENGINE

SOURCE = Path(__file__).parent.parent / "src" / "lsmtune"
BESIDE = SOURCE.with_name("lsmtune_reproductions")
NATIVE = Path(__file__).parent.parent / "native"

FLOORS: dict[str, int] = {
    "lsmtune": 0, "errors": 0, "units": 0, "stats": 0, "reading": 0, "system": 0,
    "study_keys": 0, "entries": 0, "progress": 0,
    "knobs": 1, "workloads": 1, "metrics": 1, "learning": 1,
    "records": 2, "simulator": 2,
    "engines": 3, "optimizers": 3, "store": 3,
    "hosts": 4,
    "study": 5,
    "analysis": 6,
    "report": 7,
    "api": 10,
    "cli": 11, "testing": 11,
    "public": 12,
}  # fmt: skip
"""Every room with its floor. `public` is the package's own __init__, and `lsmtune` its version."""

ROOM_OF_MODULE = {
    "__init__": "public", "errors": "errors", "units": "units", "stats": "stats",
    "trials": "records", "objective": "records", "verdict": "records", "spec": "records",
    "spec_defaults": "records", "limits": "records", "reading": "reading", "batch": "records",
    "experiment": "records", "tables": "records", "spaces": "records", "rehearsal": "records",
    "pruning": "records", "study_keys": "study_keys", "host_levels": "records",
    "entries": "entries", "engine_traits": "records", "progress": "progress",
}  # fmt: skip
"""The modules at the package's root; the records are one room."""

FOUNDATION = {"units", "stats", "reading", "system", "entries"}
"""Rooms that may import the errors, which are on their own floor."""

ONLY_TYPES = {"progress": {"records", "store", "study"}}
"""Rooms above a room whose types it may name, under TYPE_CHECKING, but never load."""

NEVER = {"hosts": {"store", "optimizers"}}
"""Rooms on a lower floor that a room must not import: a host runs trials and decides nothing."""

MOST_LINES = 700
MOST_LINES_OF_A_FUNCTION = 80

FLAG = re.compile(r"--[a-z][a-z-]+")
NO_FLAG = re.compile(r"`[^`]*`|Argument\((?:[^()]|\([^()]*\))*\)")

MACHINE = re.compile(
    r"(subprocess|multiprocessing|pty|ctypes)(\..*)?"
    r"|os\.(kill|killpg|system|popen|fork|forkpty|startfile|remove|unlink|rmdir|removedirs"
    r"|(exec|spawn|posix_spawn)\w*)"
    r"|shutil\.(rmtree|move|chown)"
    r"|signal\.(pthread_kill|pidfd_send_signal|raise_signal)|psutil\.(Process|Popen)"
)
"""What starts or ends processes, or deletes: for the room `system` alone."""

COMMANDS_IMPORT = ("__version__", "api", "cli", "errors", "progress", "report.text", "units")
"""What the command line may import of lsmtune: `api` works, the texts put records into words."""

LINES: dict[str, int] = {
    "analysis": 11690, "api": 5426, "cli": 3450, "engines": 12335, "entries": 292, "errors": 171,
    "hosts": 2081, "knobs": 4822, "learning": 1296, "metrics": 6328, "optimizers": 1767,
    "progress": 89, "public": 85, "reading": 122, "records": 3636, "report": 8431, "simulator": 557,
    "stats": 138, "store": 1233, "study": 5565, "study_keys": 206, "system": 2291, "testing": 758,
    "units": 95, "workloads": 1659,
}  # fmt: skip
"""The most lines of each room. A commit may lower a number, and raises one only by lowering another
by as much.
"""
LINES_IN_ALL = 74523
LINES_BESIDE = 5187
SPARE_LINES = 100
"""A number falls with the room: it is at most this much above the lines that the room has."""

ALONE = ("system/store_steps.py", "system/store_copy.py")
"""Programs of their own, whose output lsmtune reads."""

WORKERS = "comparison/workers.py"
"""The processes in which the package beside runs searches on a model."""

SPEECH = {"print", "input", "sys.exit", "exit", "quit", "sys.stdout.write", "sys.stderr.write"}

DELETING_METHODS = {"unlink", "rmdir", "rmtree"}

PICKLES = re.compile(r"(c?[pP]ickle|dill|cloudpickle|joblib|marshal|shelve)(\..*)?")

NOTES = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")

MACHINE_PATH = re.compile(
    r"(?<![\w.<>)\]}/:*~-])/(?!(?:proc|sys|dev|etc|tmp|usr)\b)[a-z]\w*/[\w.]|\b[A-Z]:\\+\w"
)
"""An absolute path, apart from those that every Linux has."""

MAY_NAME_ENGINES = (
    "engines/", "simulator/", "analysis/inspect/", "entries.py",
    "cli/flags.py",
)  # fmt: skip
"""Modules that may compare with an engine's name. All others ask the entry of the engine."""

NO_ENGINE = {
    ("study_keys.py", "rocksdb"): "the key of a study, VERSION",
}
"""Names that choose no behaviour of an engine, with what they are."""

INNER_MODULES = {
    "lsmtune.analysis.experiment_runs", "lsmtune.analysis.importance", "lsmtune.analysis.screened",
    "lsmtune.analysis.swept", "lsmtune.api.flags", "lsmtune.api.on_hosts", "lsmtune.api.resolve",
    "lsmtune.api.resolve_experiment", "lsmtune.batch", "lsmtune.cli.flags", "lsmtune.cli.output",
    "lsmtune.cli.progress", "lsmtune.cli.tables", "lsmtune.engine_traits", "lsmtune.engines.base",
    "lsmtune.engines.registry", "lsmtune.errors", "lsmtune.experiment", "lsmtune.hosts.commander",
    "lsmtune.knobs.catalogue", "lsmtune.knobs.knob_text", "lsmtune.knobs.space",
    "lsmtune.knobs.types", "lsmtune.learning.factorial", "lsmtune.learning.factors",
    "lsmtune.learning.models", "lsmtune.learning.threads", "lsmtune.learning.variance",
    "lsmtune.limits", "lsmtune.metrics.definitions", "lsmtune.metrics.measurement",
    "lsmtune.objective", "lsmtune.optimizers.algorithms.genetic",
    "lsmtune.optimizers.algorithms.random", "lsmtune.optimizers.base",
    "lsmtune.optimizers.judgement", "lsmtune.optimizers.opening", "lsmtune.optimizers.points",
    "lsmtune.optimizers.registry", "lsmtune.progress", "lsmtune.reading", "lsmtune.report.canvas",
    "lsmtune.report.importance_page", "lsmtune.report.inspect_page", "lsmtune.report.markup",
    "lsmtune.report.page", "lsmtune.report.page_texts", "lsmtune.report.plots",
    "lsmtune.report.sections", "lsmtune.report.swept_page", "lsmtune.report.text.facts",
    "lsmtune.report.text.metric_words", "lsmtune.report.text.swept_words",
    "lsmtune.report.text.words", "lsmtune.report.tree", "lsmtune.spaces", "lsmtune.spec",
    "lsmtune.stats", "lsmtune.store.home", "lsmtune.store.records", "lsmtune.study.foretelling",
    "lsmtune.study.host_checks", "lsmtune.study.opening", "lsmtune.study.runner",
    "lsmtune.study.screen", "lsmtune.study.search", "lsmtune.study.session", "lsmtune.study.verify",
    "lsmtune.system.host", "lsmtune.system.lock", "lsmtune.system.write", "lsmtune.tables",
    "lsmtune.trials", "lsmtune.units", "lsmtune.verdict", "lsmtune.workloads",
}  # fmt: skip
"""What the package of published studies imports of lsmtune. This list may only shrink."""

Checker = Callable[[Path], Iterator[str]]


class Module:
    """A module of a package tree: where it stands, and what it says."""

    def __init__(self, root: Path, path: Path) -> None:
        self.name = str(path.relative_to(root))
        self.text = path.read_text(encoding="utf-8")
        self.nodes = list(ast.walk(ast.parse(self.text)))
        parts = path.relative_to(root).with_suffix("").parts
        self.room = room_of(parts)
        self._package = ("lsmtune", *parts[:-1])

    def imports(self) -> Iterator[str]:
        """The dotted name of everything that is imported, wherever in the module."""
        for node in self.nodes:
            if isinstance(node, ast.Import):
                yield from (alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom):
                yield from (f"{self._source(node)}.{alias.name}" for alias in node.names)

    def types_only(self) -> Iterator[str]:
        """The dotted name of everything that is imported only for type checkers."""
        for node in self.nodes:
            if isinstance(node, ast.If) and _dotted(node.test) == "TYPE_CHECKING":
                found = [one for one in node.body if isinstance(one, ast.ImportFrom)]
                yield from (f"{self._source(f)}.{a.name}" for f in found for a in f.names)

    def uses(self) -> Iterator[tuple[int, str]]:
        """Line and full dotted name of what is used of imported modules."""
        names = dict(self._bound())
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and (dotted := _dotted(node)):
                first, _, rest = dotted.partition(".")
                if first in names:
                    yield node.lineno, f"{names[first]}.{rest}"

    def _bound(self) -> Iterator[tuple[str, str]]:
        for node in self.nodes:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    yield bound, alias.name if alias.asname else bound
            elif isinstance(node, ast.ImportFrom):
                for alias in node.names:
                    yield alias.asname or alias.name, f"{self._source(node)}.{alias.name}"

    def _source(self, node: ast.ImportFrom) -> str:
        above = self._package[: len(self._package) - node.level + 1] if node.level else ()
        return ".".join([*above, *([node.module] if node.module else [])])


def room_of(parts: tuple[str, ...]) -> str | None:
    """The room of a module by its path below the package; None where it has no place."""
    room = ROOM_OF_MODULE.get(parts[0]) if len(parts) == 1 else parts[0]
    return room if room in FLOORS else None


def _dotted(node: ast.expr) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute) and (above := _dotted(node.value)):
        return f"{above}.{node.attr}"
    return None


@lru_cache(maxsize=2)
def modules(root: Path) -> list[Module]:
    """All modules; those of the last trees are kept, because each checker asks for them."""
    return [Module(root, path) for path in sorted(root.rglob("*.py"))]


def homeless(root: Path) -> Iterator[str]:
    """Modules without a place."""
    yield from (f"{module.name} has no room" for module in modules(root) if not module.room)


def wrong_imports(root: Path) -> Iterator[str]:
    """Imports that point up, or to another room of the same floor."""
    for module in modules(root):
        types = set(module.types_only())
        for imported in module.imports():
            room = imported_room(imported)
            if imported in types and room in ONLY_TYPES.get(str(module.room), ()):
                continue
            if module.room and room and not may_import(module.room, room):
                yield f"{module.name} imports {imported}"


def imported_room(dotted: str) -> str | None:
    """The room that an import of ours enters; None for other packages."""
    first, *parts = dotted.split(".")
    if first != "lsmtune":
        return None
    if not parts:
        return "lsmtune"
    return ROOM_OF_MODULE.get(parts[0]) or (parts[0] if parts[0] in FLOORS else "lsmtune")


def may_import(room: str, other: str) -> bool:
    always = {room, "lsmtune", *(["errors"] if room in FOUNDATION else [])}
    if other in NEVER.get(room, ()):
        return False
    return other in always or FLOORS[other] < FLOORS[room]


def deep_commands(root: Path) -> Iterator[str]:
    """Modules of the command line that import more than `api` and the texts."""
    for module in modules(root):
        for imported in module.imports() if module.room == "cli" else ():
            first, _, rest = imported.partition(".")
            is_allowed = any(f"{rest}.".startswith(f"{a}.") for a in COMMANDS_IMPORT)
            if first == "lsmtune" and not is_allowed:
                yield f"{module.name} imports {imported}"


def naming_the_package_beside(root: Path) -> Iterator[str]:
    """Modules that name the package of published studies; entry points offer what it has."""
    for module in modules(root):
        if BESIDE.name in module.text:
            yield f"{module.name} names {BESIDE.name}"


def texts_with_pages(root: Path) -> Iterator[str]:
    """Texts of records that import pages: the command line would import them too."""
    for module in modules(root):
        for imported in module.imports() if module.name.startswith("report/text/") else ():
            report, _, rest = imported.partition("lsmtune.report.")
            if not report and rest and not f"{rest}.".startswith("text."):
                yield f"{module.name} imports {imported}"


def over_budget(root: Path) -> Iterator[str]:
    """Rooms with more lines than their number, each by one of its files."""
    names = {module.room: module.name for module in modules(root)}
    for room, lines in lines_of_rooms(root).items():
        if lines > (most := LINES.get(room, 0)):
            yield f"{names.get(room, room)}: {room} has {lines} lines, and {most} are allowed"


def lines_of_rooms(root: Path) -> Counter[str]:
    """Return the lines of each room."""
    lines = Counter[str]()
    for module in modules(root):
        lines[module.room or module.name] += len(module.text.splitlines())
    return lines


def printing(root: Path) -> Iterator[str]:
    """Prints, questions and exits below the command line."""
    for module in modules(root):
        if module.room == "cli" or module.name in ALONE:
            continue
        for node in module.nodes:
            if isinstance(node, ast.Call) and _dotted(node.func) in SPEECH:
                yield f"{module.name}:{node.lineno}: {_dotted(node.func)}"


def flags_in_errors(root: Path) -> Iterator[str]:
    """Flags in errors below the command line: Python has arguments, so an error has an `Argument`.

    An `Argument` may name its flag, and a text between backticks is a command.
    """
    for module in modules(root):
        if module.room == "cli" or module.name == "commands.py":
            continue
        for node in module.nodes:
            if not isinstance(node, ast.Raise):
                continue
            said = "\n".join(module.text.splitlines()[node.lineno - 1 : node.end_lineno])
            if found := FLAG.search(NO_FLAG.sub("", said)):
                yield f"{module.name}:{node.lineno}: {found[0]}"


def too_long(root: Path) -> Iterator[str]:
    """Files and functions that nobody can take in."""
    for module in modules(root):
        if (lines := len(module.text.splitlines())) > MOST_LINES:
            yield f"{module.name} has {lines} lines"
        for node in module.nodes:
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > MOST_LINES_OF_A_FUNCTION:
                    yield f"{module.name}: {node.name} has {lines} lines"


def naming_engines(root: Path) -> Iterator[str]:
    """Comparisons with the name of an engine, and tables by such names."""
    for module in modules(root):
        if module.name.startswith(MAY_NAME_ENGINES):
            continue
        named = {"DEFAULT_ENGINE": DEFAULT_ENGINE, **dict(_named_engines(module))}
        for node in {one for part in module.nodes for one in _compared(part)}:
            name = named.get(node.id) if isinstance(node, ast.Name) else str(node.value)
            if name in ENGINES.built_in and (module.name, name) not in NO_ENGINE:
                yield f"{module.name}:{node.lineno} names the engine {name}"


def _named_engines(module: Module) -> Iterator[tuple[str, str]]:
    """Constants of a module whose value is the name of an engine."""
    for node in module.nodes:
        if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Constant):
            continue
        if node.value.value in ENGINES.built_in and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, str(node.value.value)


def _compared(node: ast.AST) -> Iterator[ast.Constant | ast.Name]:
    """Texts and names that a node compares with, has as keys, or contains as elements."""
    parts: list[ast.expr | None] = []
    if isinstance(node, ast.Compare):
        parts = [node.left, *node.comparators]
    elif isinstance(node, ast.Dict):
        parts = [*node.keys]
    elif isinstance(node, ast.Tuple | ast.Set | ast.List):
        parts = [*node.elts]
    elif isinstance(node, ast.Subscript):
        parts = [node.slice]
    elif isinstance(node, ast.MatchValue):
        parts = [node.value]
    for one in parts:
        if isinstance(one, ast.Name) or (isinstance(one, ast.Constant) and type(one.value) is str):
            yield one


def touching_the_machine(root: Path) -> Iterator[str]:
    """Processes and deletions outside the room `system`."""
    for module in modules(root):
        if module.room == "system" or module.name == WORKERS:
            continue
        for imported in module.imports():
            if MACHINE.fullmatch(imported):
                yield f"{module.name} imports {imported}"
        for line, used in module.uses():
            if MACHINE.fullmatch(used):
                yield f"{module.name}:{line} uses {used}"
        calls = (node.func for node in module.nodes if isinstance(node, ast.Call))
        for called in calls:
            if isinstance(called, ast.Attribute) and called.attr in DELETING_METHODS:
                yield f"{module.name}:{called.lineno} calls .{called.attr}()"


def shells(root: Path) -> Iterator[str]:
    """Commands that a shell would read."""
    for module in modules(root):
        keywords = (node for node in module.nodes if isinstance(node, ast.keyword))
        for keyword in keywords:
            if keyword.arg == "shell" and ast.unparse(keyword.value) != "False":
                yield f"{module.name}:{keyword.value.lineno} gives shell="
        for line, used in module.uses():
            if used in {"os.system", "os.popen", "subprocess.getoutput"}:
                yield f"{module.name}:{line} uses {used}"


def pickles(root: Path) -> Iterator[str]:
    """Formats that run code when they are read."""
    for module in modules(root):
        yield from (f"{module.name} imports {n}" for n in module.imports() if PICKLES.fullmatch(n))


def notes(root: Path) -> Iterator[str]:
    """Work that was left undone, in comments and texts."""
    for path in _text_files(root):
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if NOTES.search(line):
                yield f"{path.relative_to(root)}:{number}: {line.strip()}"


def machine_paths(root: Path) -> Iterator[str]:
    """Paths that exist on somebody's machine only, in strings and comments."""
    for path in _text_files(root):
        for number, text in _said(path):
            if MACHINE_PATH.search(text):
                yield f"{path.relative_to(root)}:{number}: {text.strip()}"


def _text_files(root: Path) -> Iterator[Path]:
    files = (path for path in sorted(root.rglob("*")) if path.is_file())
    yield from (path for path in files if path.suffix in {".py", ".toml", ".css", ".js", ".html"})


def _said(path: Path) -> Iterator[tuple[int, str]]:
    """Strings and comments of a module, all lines of another file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        yield from enumerate(text.splitlines(), start=1)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            yield token.start[0], token.string.strip("rbfu\"'")


CHECKERS: tuple[Checker, ...] = (
    homeless, wrong_imports, deep_commands, naming_the_package_beside, texts_with_pages,
    over_budget, printing, flags_in_errors, too_long, naming_engines,
    touching_the_machine, shells, pickles, notes, machine_paths,
)  # fmt: skip

CHECKERS_BESIDE: tuple[Checker, ...] = (
    printing, flags_in_errors, too_long, touching_the_machine, shells, pickles, notes,
    machine_paths,
)  # fmt: skip


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda checker: checker.__name__)
def test_the_house_keeps_its_rules(checker: Checker) -> None:
    assert list(checker(SOURCE)) == []


@pytest.mark.parametrize("checker", CHECKERS_BESIDE, ids=lambda checker: checker.__name__)
def test_the_package_beside_keeps_the_rules_of_all(checker: Checker) -> None:
    assert list(checker(BESIDE)) == []


def test_the_house_is_what_is_checked() -> None:
    rooms = {module.room for module in modules(SOURCE)}
    assert rooms >= {"system", "knobs", "records", "store", "study", "report", "cli"}
    assert any(module.name == WORKERS for module in modules(BESIDE))


def test_the_package_beside_imports_what_is_listed() -> None:
    """The list may only shrink: remove a module that is imported no more, and add none."""
    imported = {name for module in modules(BESIDE) for name in module.imports()}
    assert {found for name in imported if (found := _inner_module(name))} == INNER_MODULES


def _inner_module(dotted: str) -> str | None:
    """Return the module of lsmtune that an import reads; None for another package."""
    first, *parts = dotted.split(".")
    while first == "lsmtune" and parts:
        path = SOURCE.joinpath(*parts)
        if path.with_suffix(".py").exists() or path.is_dir():
            return ".".join([first, *parts])
        parts.pop()
    return None


def test_the_budget_falls_with_the_lines() -> None:
    lines = lines_of_rooms(SOURCE)
    spare = {room: most - lines[room] for room, most in LINES.items()}
    assert {room: n for room, n in spare.items() if n > SPARE_LINES} == {}
    assert sum(LINES.values()) <= LINES_IN_ALL
    assert sum(len(module.text.splitlines()) for module in modules(BESIDE)) <= LINES_BESIDE


def plant(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


LONG_FUNCTION = "def f():\n" + "    x = 1\n" * 80
TIDY = {
    "__init__.py": '"""A package."""\n',
    "units.py": "from lsmtune.errors import UserError\n",
    "progress.py": "if TYPE_CHECKING:\n    from lsmtune.study.runner import Task\n",
    "spec.py": "from lsmtune.knobs import space\nfrom lsmtune.trials import Protocol\n",
    "system/workdir.py": "import shutil\nimport lsmtune.errors\nshutil.rmtree('x')\n",
    "store/home.py": "import shutil\nimport os\nshutil.copyfileobj\nos.environ\n",
    "batch.py": "x = y == 'rocks' or load('rocksdb') or '' in {1: 'tikv', **x} or x[0]\n",
    "engines/a.py": "x = y == 'rocksdb'\n",
    "cli/main.py": "def f():\n" + "    x = '/proc/stat a/b ops/s 1/64 https://e.org/x/y'\n" * 59,
    "report/page.css": "p { color: red } /* a/b */\n",
}


@pytest.mark.parametrize("checker", CHECKERS, ids=lambda checker: checker.__name__)
def test_a_tidy_house_passes(checker: Checker, tmp_path: Path) -> None:
    assert list(checker(plant(tmp_path, TIDY))) == []


def cases(checker: Checker, planted: Iterable[tuple[str, str, str]]) -> list[object]:
    return [
        pytest.param(checker, file, text, found, id=f"{checker.__name__}-{n}")
        for n, (file, text, found) in enumerate(planted)
    ]


@pytest.mark.parametrize(
    ("checker", "file", "text", "found"),
    [
        *cases(
            homeless,
            [
                ("helpers/text.py", "", "helpers/text.py has no room"),
                ("utils.py", "", "utils.py has no room"),
            ],
        ),
        *cases(
            wrong_imports,
            [
                (
                    "knobs/space.py",
                    "from lsmtune.store.home import Home",
                    "lsmtune.store.home.Home",
                ),
                ("knobs/space.py", "import lsmtune.metrics.definitions", "lsmtune.metrics"),
                ("knobs/space.py", "from lsmtune import metrics", "lsmtune.metrics"),
                ("knobs/space.py", "from ..trials import Role", "lsmtune.trials.Role"),
                ("knobs/space.py", "from .. import spec", "lsmtune.spec"),
                ("knobs/a/b.py", "def f():\n    from ...cli import main", "lsmtune.cli.main"),
                ("store/home.py", "from lsmtune.engines.base import Engine", "lsmtune.engines"),
                ("study/study.py", "from lsmtune.analysis import x", "lsmtune.analysis"),
                ("hosts/a.py", "from lsmtune.store.home import Home", "lsmtune.store.home"),
                ("progress.py", "from lsmtune.study.runner import Task", "lsmtune.study"),
                ("hosts/a.py", "from lsmtune.study import x", "lsmtune.study"),
                ("trials.py", "from lsmtune.store import home", "lsmtune.store.home"),
                ("stats.py", "from lsmtune.units import KIB", "lsmtune.units.KIB"),
                ("errors.py", "from lsmtune.units import KIB", "lsmtune.units.KIB"),
                ("system/lock.py", "from lsmtune.units import KIB", "lsmtune.units.KIB"),
            ],
        ),
        *cases(
            deep_commands,
            [
                ("cli/show.py", "def f():\n    from lsmtune.store.home import Home", "store.home"),
                ("cli/tune.py", "from lsmtune import spec", "imports lsmtune.spec"),
                ("cli/tune.py", "from lsmtune.report.page import x", "lsmtune.report.page.x"),
                ("cli/tune.py", "from ..study.study import Study", "lsmtune.study.study.Study"),
            ],
        ),
        *cases(
            naming_the_package_beside,
            [
                ("cli/a.py", "def f():\n    from lsmtune_reproductions import x", "cli/a.py"),
                ("api/a.py", "import_module('lsmtune_reproductions.commands')", "api/a.py"),
            ],
        ),
        *cases(
            texts_with_pages,
            [
                ("report/text/words.py", "from lsmtune.report.page import x", "report.page.x"),
                ("report/text/words.py", "from lsmtune.report import page", "report.page"),
            ],
        ),
        *cases(over_budget, [("learning/a.py", "x = 1\n" * 9999, "learning has 9999 lines")]),
        *cases(
            printing,
            [
                ("api/tune.py", "print('done')", "tune.py:1: print"),
                ("study/study.py", "import sys\nsys.exit(2)", "study.py:2: sys.exit"),
            ],
        ),
        *cases(
            flags_in_errors,
            [
                ("api/tune.py", 'raise UserError(f"{x}; add --trust")', "tune.py:1: --trust"),
                ("study/study.py", "raise E(f'--trial {x}: none')", "study.py:1: --trial"),
            ],
        ),
        *cases(
            too_long,
            [
                ("cli/main.py", "x = 1\n" * 701, "701 lines"),
                ("cli/main.py", LONG_FUNCTION, "f has 81 lines"),
                ("cli/main.py", "async " + LONG_FUNCTION, "f has 81 lines"),
            ],
        ),
        *cases(
            naming_engines,
            [
                (
                    "verdict.py",
                    "if engine != 'tikv':\n    pass",
                    "verdict.py:1 names the engine tikv",
                ),
                ("api/a.py", "x = engine in ('rocksdb', DRIVER)", "a.py:1 names"),
                ("api/a.py", "E = 'tikv'\nx = y.engine == E", "a.py:2 names the engine tikv"),
                ("api/a.py", "x = y != DEFAULT_ENGINE", "a.py:1 names"),
                ("api/a.py", "x = {'myrocks': 1}", "a.py:1 names the engine myrocks"),
                ("api/a.py", "x = y['simulated']", "a.py:1 names the engine simulated"),
                ("api/a.py", "match x:\n    case 'embedded':\n        pass", "a.py:2 names"),
            ],
        ),
        *cases(
            touching_the_machine,
            [
                ("store/home.py", "import subprocess", "imports subprocess"),
                ("store/home.py", "from subprocess import run", "imports subprocess.run"),
                ("store/home.py", "from os import kill as k", "imports os.kill"),
                ("store/home.py", "import os\nos.kill(1, 9)", "home.py:2 uses os.kill"),
                ("store/home.py", "import os as o\no.execv('x', [])", "uses os.execv"),
                ("store/home.py", "import shutil\nf = shutil.rmtree", "uses shutil.rmtree"),
                ("store/home.py", "path.unlink()", "calls .unlink()"),
                ("store/home.py", "Path('x').parent.rmdir()", "calls .rmdir()"),
                ("engines/a.py", "import psutil\npsutil.Process(1)", "uses psutil.Process"),
            ],
        ),
        *cases(
            shells,
            [
                ("system/process.py", "run('ls', shell=True)", "gives shell="),
                ("system/process.py", "run('ls', shell=flag)", "gives shell="),
                ("system/process.py", "import os\nos.system('ls')", "uses os.system"),
            ],
        ),
        *cases(
            pickles,
            [
                ("store/home.py", "import pickle", "imports pickle"),
                ("store/home.py", "from joblib import dump", "imports joblib.dump"),
            ],
        ),
        *cases(
            notes,
            [
                ("spec.py", "x = 1  # TO" + "DO later", "spec.py:1"),
                ("knobs/rocksdb.toml", "# FIX" + "ME", "rocksdb.toml:1"),
            ],
        ),
        *cases(
            machine_paths,
            [
                ("spec.py", "x = '/ho" + "me/me/db_bench'", "spec.py:1"),
                ("spec.py", "x = 1  # see /srv/data/x", "spec.py:1"),
                ("spec.py", "x = 'C:\\\\Users'", "spec.py:1"),
                ("knobs/rocksdb.toml", 'path = "/opt/rocksdb/bin"', "rocksdb.toml:1"),
            ],
        ),
    ],
)
def test_a_planted_violation_is_found(
    checker: Checker, file: str, text: str, found: str, tmp_path: Path
) -> None:
    problems = list(checker(plant(tmp_path, TIDY | {file: text})))
    assert problems
    assert all(file.rpartition("/")[2] in problem for problem in problems)
    assert any(found in problem for problem in problems)


def cycles(root: Path) -> Iterator[str]:
    """A cycle of modules of a Rust crate. A folder is one module, and the crate imports all."""
    paths = list(root.rglob("*.rs"))
    files = {path: path.relative_to(root).parts[0].removesuffix(".rs") for path in paths}
    used = {name: set[str]() for name in files.values()}
    for path, name in files.items():
        for names in re.findall(r"\bcrate::(\w+|\{[^;]+\})", path.read_text(encoding="utf-8")):
            found = set(re.findall(r"(?:^|[{,])\s*(\w+)", names)) - {name}
            used[name] |= {one if one in used else "lib" for one in found}
    used["lib"] = set(used) - {"lib"}
    try:
        TopologicalSorter(used).prepare()
    except CycleError as error:
        yield " -> ".join(reversed(error.args[1]))


@pytest.mark.parametrize("crate", ["lsmdriver", "lsmsim"])
def test_modules_of_a_crate_have_no_cycle(crate: str) -> None:
    assert list(cycles(NATIVE / crate / "src")) == []


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"a.rs": "use crate::b::B;", "b/mod.rs": "crate::{c, d};", "c.rs": "crate::d::D"}, set()),
        ({"a.rs": "use crate::b::B;", "b/e.rs": "crate::{d, c::C};", "c.rs": "crate::a"}, {*"abc"}),
        ({"a.rs": "use crate::open;"}, {"a", "lib"}),
    ],
)
def test_a_planted_cycle_is_found(files: dict[str, str], found: set[str], tmp_path: Path) -> None:
    root = plant(tmp_path, {"lib.rs": "", "d.rs": ""} | files)
    assert {name for cycle in cycles(root) for name in cycle.split(" -> ")} == found


@pytest.mark.parametrize("folder", ["benchmarks", "scripts"])
def test_programs_that_no_test_runs_import_what_exists(folder: str) -> None:
    missing = [
        f"{path.name}: {node.module}.{alias.name}"
        for path in sorted((SOURCE.parents[1] / folder).rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lsmtune")
        for alias in node.names
        if not _exists(node.module or "", alias.name)
    ]
    assert missing == []


def _exists(module: str, name: str) -> bool:
    return hasattr(import_module(module), name) or find_spec(f"{module}.{name}") is not None


def test_the_files_that_the_picture_names_exist() -> None:
    top = SOURCE.parents[1]
    text = (top / "ARCHITECTURE.md").read_text(encoding="utf-8")
    named = re.findall(r"[\w/]+\.(?:py|toml|rs)\b", text)
    roots = [top / name for name in ("src", "tests", "scripts", "benchmarks")]
    roots += [NATIVE / name / "src" for name in ("lsmdriver", "lsmsim")]
    there = [path.as_posix() for root in roots for path in root.rglob("*.*")]
    there += ["/pyproject.toml", "/study.toml"]  # at the root; the user's file
    assert [name for name in named if not any(one.endswith(f"/{name}") for one in there)] == []
