"""Text of messages and help: string literals of the source, and texts of the catalogue."""
# ruff: noqa: RUF001 - users read typographic characters

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from user_text_headings import NAMED, TABLES, flag_of, kind_of
from user_text_literals import is_string, is_text, is_word, template
from user_text_sentences import NAME, PLACEHOLDER, Text

_PAGE_MODULES = ("report/*", "recipes/*/page.py", "recipes/*/plots.py", "recipes/*_section.py",
                 "comparison/page.py", "analysis/*_words.py")  # fmt: skip
_MESSAGE_MODULES = tuple(
    f"report/{name}.py" for name in ("export", "my_cnf", "tikv_toml", "claim_text")
)
_PARSING = {"startswith", "endswith", "split", "rsplit", "partition", "rpartition", "find",
            "removeprefix", "removesuffix", "replace", "index", "count", "compile", "match",
            "search", "fullmatch", "findall", "finditer", "sub", "execute", "executemany",
            "executescript", "encode"}  # fmt: skip
_UNSEEN = {"_PLAINER", "_PROGRAM", "_STALL_LINES", "parse_banner", "Judgement"}
"""Names of tables and functions with texts of other programs, code, or codes of documents."""
_CHECKS_INPUT = ("spec.py", "tables.py", "experiment.py", "workloads/")
"""Modules whose ValueErrors pydantic reports; elsewhere a ValueError is a bug, not a message."""
_TOML_FIELDS = {
    "trade": "effect", "risk": "risk", "inert": "why it has no effect in trials",
    "title": "content", "source": "source", "reason": "why the parameter is not a knob",
    "notes": "note on the knobs", "defaults_of": "source of the defaults",
}  # fmt: skip
_TOML_KINDS = {
    "knob": "knob ", "preset": "preset of knobs ", "start": "first configs of a search: ",
    "workload_parameter": "parameter of the workload ",
}  # fmt: skip


def message_texts(root: Path) -> Iterator[Text]:
    """Yield messages and help of the source, then texts of the catalogue."""
    package = root / "src" / "lsmtune"
    commands = _find_commands(package / "cli" / "main.py")
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package)
        if _is_read(inside):
            name = path.relative_to(root).as_posix()
            of_module = {function for module, function in commands if inside.stem == module}
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield from _Messages(name, of_module if inside.parts[0] == "cli" else set()).read(tree)
    for path in sorted((package / "knobs" / "catalogue").rglob("*.toml")):
        yield from _toml_texts(path.read_text(encoding="utf-8"), path.relative_to(root).as_posix())


def _is_read(inside: Path) -> bool:
    name = inside.as_posix()
    if name in _MESSAGE_MODULES:
        return True
    return not name.startswith("report/") and not any(inside.match(p) for p in _PAGE_MODULES)


def _find_commands(main: Path) -> set[tuple[str, str]]:
    """Return (module, function) of what main.py registers, e.g. ("tune", "tune")."""
    if not main.is_file():
        return set()
    return {
        (node.value.id, node.attr)
        for node in ast.walk(ast.parse(main.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }


class _Messages(ast.NodeVisitor):
    """Collects the string literals of a module that are text."""

    def __init__(self, path: str, commands: set[str]) -> None:
        self._path, self._commands = path, commands
        self._names: list[str] = []
        self._inner = self._raising = 0
        self._key = self._flag = self._argument = ""
        self._texts: list[Text] = []

    def read(self, tree: ast.Module) -> list[Text]:
        self.visit(tree)
        return self._texts

    def _add(self, node: ast.AST, text: str, heading: str = "") -> None:
        line = getattr(node, "lineno", 1)
        complete = not self._inner and bool(re.match(r"[^\s,;.:)\]–]", text))
        complete = complete and not re.search(r"[\s,;(\[]$", text)
        heading = heading or self._heading()
        for part in text.split("\n"):
            if is_text(part):
                self._texts.append(Text(self._path, line, heading, part.strip(), complete))

    def _heading(self) -> str:
        """Return what a user sees around the text, or the place in the source if unknown."""
        inside = self._path.removeprefix("src/lsmtune/")
        names = self._names
        if self._flag:
            command = names[0] if names and names[0] in self._commands else ""
            return " ".join(filter(None, ["lsmtune", command, self._flag]))
        if names and names[0] in TABLES:
            return f"study file: {TABLES[names[0]]}{self._key}"
        if self._key and inside in NAMED:
            return f"{NAMED[inside]} {self._key}"
        kind = kind_of(": ".join([inside, *names[-1:]]), bool(self._raising))
        return kind or ": ".join([self._path.removeprefix("src/"), *names[-1:]])

    def visit_Raise(self, node: ast.Raise) -> None:
        inside = self._path.removeprefix("src/lsmtune/")
        called = node.exc.func if isinstance(node.exc, ast.Call) else None
        is_value_error = isinstance(called, ast.Name) and called.id == "ValueError"
        if is_value_error and not inside.startswith(_CHECKS_INPUT):
            return
        self._raising += 1
        self.generic_visit(node)
        self._raising -= 1

    def visit_Dict(self, node: ast.Dict) -> None:
        for key, value in zip(node.keys, node.values, strict=True):
            before = self._key
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                self.visit(key)
                self._key = key.value
            elif key is not None:
                self.visit(key)
            self.visit(value)
            self._key = before

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        decorated = any("command" in ast.dump(d) for d in node.decorator_list)
        callback = any("callback" in ast.dump(d) for d in node.decorator_list)
        if not self._names and (node.name in self._commands or decorated or callback):
            command = "" if callback else f" {node.name}"
            for paragraph in re.split(r"\n\s*\n", ast.get_docstring(node) or ""):
                self._add(node, " ".join(paragraph.split()), f"lsmtune{command} --help")
        self._named(node.name, node)

    visit_FunctionDef = visit_AsyncFunctionDef = _visit_function  # noqa: N815

    def visit_arg(self, node: ast.arg) -> None:
        self._argument = node.arg
        self.generic_visit(node)
        self._argument = ""

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._named(node.name, node)

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        top = isinstance(target, ast.Name) and not self._names
        self._named(target.id if top and isinstance(target, ast.Name) else "", node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        # `Annotated[…]` contains help; other annotations contain names only.
        self._named(node.target.id if isinstance(node.target, ast.Name) else "", node)

    def _named(self, name: str, node: ast.AST) -> None:
        if name in _UNSEEN:
            return
        self._names.extend([name] if name else [])
        self.generic_visit(node)
        if name:
            self._names.pop()

    def visit_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):  # a docstring
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        for part in (node.left, *node.comparators):
            if not isinstance(part, ast.Constant):
                self.visit(part)

    def visit_Call(self, node: ast.Call) -> None:
        function = node.func
        if isinstance(function, ast.Attribute) and function.attr in ("Option", "Argument"):
            self._flag = flag_of(node, self._argument or "".join(self._names[-1:]))
            self.generic_visit(node)
            self._flag = ""
            return
        first = node.args[0] if node.args else None
        if isinstance(function, ast.Name) and function.id == "Metric":
            before, self._key = self._key, first.value if is_word(first) else self._key
            self.generic_visit(node)
            self._key = before
            return
        if isinstance(function, ast.Attribute) and function.attr in _PARSING:
            self.visit(function.value)
            for argument in node.args:
                if not is_string(argument):
                    self.visit(argument)
            return
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self._add(node, node.value)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self._joined(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        if isinstance(node.op, ast.Add | ast.Mod) and is_string(node):
            self._joined(node)
        else:
            self.generic_visit(node)

    def _joined(self, node: ast.expr) -> None:
        values: list[ast.expr] = []
        self._add(
            node,
            re.sub(
                f"({PLACEHOLDER}{NAME}*)(?:{PLACEHOLDER}{NAME}*)+",
                r"\1",
                template(node, values),
            ),
        )
        self._inner += 1
        for value in values:
            self.visit(value)
        self._inner -= 1


def _toml_texts(source: str, path: str) -> Iterator[Text]:
    lines = source.split("\n")

    def walk(value: Any, name: str, field: str = "") -> Iterator[Text]:
        if isinstance(value, dict):
            kind = _TOML_KINDS.get(field, "")
            name = f"{kind}{value['name']}" if "name" in value else name
            for key, inner in value.items():
                meaning = f"meaning of the value {value.get('value')}"
                yield from walk(inner, name, meaning if key == "meaning" else key)
        elif isinstance(value, list):
            for inner in value:
                yield from walk(inner, name, field)
        elif isinstance(value, str) and is_text(value):
            start = value.strip().split("\n", maxsplit=1)[0]
            line = next((i for i, row in enumerate(lines, 1) if start in row), 1)
            yield Text(path, line, f"{name}: {_TOML_FIELDS.get(field, field)}", value)

    yield from walk(tomllib.loads(source), f"engine {Path(path).parent.name}")
