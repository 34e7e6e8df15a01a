"""Move modules and names of lsmtune, and rewrite every import of them.

    python scripts/move_modules.py TABLE [--root FOLDER]

TABLE is a text file with one move per line, old and new name. `#` starts a comment.

    lsmtune.cli.choosing        lsmtune.api.rocksdb_version
    lsmtune.cli.common:note     lsmtune.cli.output:note
    lsmtune.spec:StudySpec      lsmtune.spec:StudySettings

A line without `:` moves a module or a package, with its file. A line with `:` changes only the
imports of a name: move its definition by hand before or after. The script rewrites imports, uses
of a renamed name or module, and dotted names in strings, in src, tests, benchmarks and scripts of
the root folder. Then run `ruff check --fix` and `ruff format`, which sort the imports. It prints
the lines of other files that still contain an old name.
"""

import argparse
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import libcst as cst
from libcst import metadata
from libcst.helpers import get_full_name_for_node

_FOLDERS = ("src", "tests", "benchmarks", "scripts")
_TEXTS = (".md", ".toml", ".sh")


@dataclass(frozen=True, slots=True)
class Moves:
    """Old and new dotted names of modules, and `module:name` of names."""

    modules: Mapping[str, str] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def module(self, name: str) -> str:
        """Return the new name of a module, which may be in a package that moves."""
        found = [old for old in self.modules if name == old or name.startswith(f"{old}.")]
        if not found:
            return name
        old = max(found, key=len)
        return self.modules[old] + name[len(old) :]

    def member(self, module: str, name: str) -> tuple[str, str]:
        """Return module and name from which `from module import name` imports now."""
        if (new := self.names.get(f"{module}:{name}")) is not None:
            place, _, name = new.partition(":")
            return self.module(place), name
        whole = f"{module}.{name}"
        if self.module(whole) != self.module(module) + f".{name}":
            place, _, name = self.module(whole).rpartition(".")
            return place, name
        return self.module(module), name

    def text(self, dotted: str) -> str:
        """Return the new form of a dotted name in a string, such as `module.name.attribute`."""
        for old, new in self.names.items():
            before, after = old.replace(":", "."), new.replace(":", ".")
            if dotted == before or dotted.startswith(f"{before}."):
                return after + dotted[len(before) :]
        return self.module(dotted)


def read_moves(text: str) -> Moves:
    """Return the moves of a table; ValueError for a line without two names of one kind."""
    modules, names = {}, {}
    for line in text.splitlines():
        words = line.partition("#")[0].split()
        if not words:
            continue
        if len(words) != 2 or (":" in words[0]) != (":" in words[1]):  # noqa: PLR2004 - old, new
            raise ValueError(f"cannot read the line {line!r}; write OLD NEW")
        (names if ":" in words[0] else modules)[words[0]] = words[1]
    return Moves(modules, names)


class _Rewriter(cst.CSTTransformer):
    """Rewrites the imports of a module, then the uses of what is named otherwise now."""

    def __init__(self, moves: Moves) -> None:
        super().__init__()
        self.moves = moves
        self.renamed: dict[str, str] = {}

    def leave_ImportFrom(  # noqa: N802 - libcst's name
        self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom
    ) -> cst.ImportFrom | cst.FlattenSentinel[cst.ImportFrom]:
        module = original_node.module and get_full_name_for_node(original_node.module)
        if not module or original_node.relative or isinstance(original_node.names, cst.ImportStar):
            return updated_node
        targets: dict[str, list[cst.ImportAlias]] = {}
        is_same = True
        for alias in original_node.names:
            place, name = self.moves.member(module, str(alias.evaluated_name))
            is_same = is_same and (place, name) == (module, alias.evaluated_name)
            if name != alias.evaluated_name and alias.asname is None:
                self.renamed[str(alias.evaluated_name)] = name
            new = alias.with_changes(name=cst.Name(name), comma=cst.MaybeSentinel.DEFAULT)
            targets.setdefault(place, []).append(new)
        if is_same:
            return updated_node
        nodes = [
            updated_node.with_changes(module=_dotted(place), names=aliases)
            for place, aliases in targets.items()
        ]
        return nodes[0] if len(nodes) == 1 else cst.FlattenSentinel(nodes)

    def leave_SimpleStatementLine(  # noqa: N802 - libcst's name
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.SimpleStatementLine | cst.FlattenSentinel[cst.SimpleStatementLine]:
        """Give each import that was split a line of its own."""
        body = updated_node.body
        if len(body) == 1 or not all(isinstance(part, cst.ImportFrom) for part in body):
            return updated_node
        first = updated_node.with_changes(body=[body[0].with_changes(semicolon=_NO_SEMICOLON)])
        rest = [
            cst.SimpleStatementLine([part.with_changes(semicolon=_NO_SEMICOLON)])
            for part in body[1:]
        ]
        return cst.FlattenSentinel([first, *rest])

    def leave_Import(  # noqa: N802 - libcst's name
        self, original_node: cst.Import, updated_node: cst.Import
    ) -> cst.Import:
        names = [
            alias.with_changes(name=_dotted(self.moves.module(str(alias.evaluated_name))))
            for alias in original_node.names
        ]
        return updated_node.with_changes(names=names)

    def leave_SimpleString(  # noqa: N802 - libcst's name
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        quote, text = original_node.quote, original_node.raw_value
        new = self.moves.text(text) if text.startswith("lsmtune.") else text
        return updated_node.with_changes(value=f"{original_node.prefix}{quote}{new}{quote}")


_NO_SEMICOLON = cst.MaybeSentinel.DEFAULT


class _Renamer(cst.CSTTransformer):
    """Renames the uses of imported names; other names that are spelled alike stay."""

    METADATA_DEPENDENCIES = (metadata.ScopeProvider,)

    def __init__(self, renamed: Mapping[str, str]) -> None:
        super().__init__()
        self._renamed = renamed
        self._annotations = 0

    def leave_Name(  # noqa: N802 - libcst's name
        self, original_node: cst.Name, updated_node: cst.Name
    ) -> cst.Name:
        old = original_node.value
        if old not in self._renamed or not self._is_import(original_node):
            return updated_node
        return updated_node.with_changes(value=self._renamed[old])

    def visit_Annotation(self, node: cst.Annotation) -> None:  # noqa: N802 - libcst's name
        self._annotations += 1

    def leave_Annotation(  # noqa: N802 - libcst's name
        self, original_node: cst.Annotation, updated_node: cst.Annotation
    ) -> cst.Annotation:
        self._annotations -= 1
        return updated_node

    def leave_SimpleString(  # noqa: N802 - libcst's name
        self, original_node: cst.SimpleString, updated_node: cst.SimpleString
    ) -> cst.SimpleString:
        """Rename annotations that are strings."""
        quote, text = original_node.quote, original_node.raw_value
        new = self._renamed.get(text, text) if self._annotations else text
        return updated_node.with_changes(value=f"{original_node.prefix}{quote}{new}{quote}")

    def _is_import(self, node: cst.Name) -> bool:
        """Return whether the name is an imported or a defined one, and no other variable."""
        scope = self.get_metadata(metadata.ScopeProvider, node, None)
        if scope is None:
            return False  # an attribute, a keyword, or the name of an import
        return all(
            isinstance(found, metadata.ImportAssignment)
            or isinstance(found.node, cst.ClassDef | cst.FunctionDef)
            for found in scope[node.value]
            if isinstance(found, metadata.Assignment)
        )


def rewritten(source: str, moves: Moves, module: str | None = None) -> str:
    """Return the source of a module with all moves; `module` is its own old dotted name."""
    rewriter = _Rewriter(moves)
    tree = cst.parse_module(source).visit(rewriter)
    own = {
        old.partition(":")[2]: new.partition(":")[2]
        for old, new in moves.names.items()
        if old.partition(":")[0] == module and moves.names[old].partition(":")[0] == module
    }
    renamed = {old: new for old, new in {**rewriter.renamed, **own}.items() if old != new}
    if not renamed:
        return tree.code
    # The names of the imports are rewritten already, so scopes come from the source as it was.
    old = metadata.MetadataWrapper(cst.parse_module(source)).visit(_Renamer(renamed))
    return old.visit(_Rewriter(moves)).code


def _dotted(name: str) -> cst.Attribute | cst.Name:
    first, *rest = name.split(".")
    node: cst.Attribute | cst.Name = cst.Name(first)
    for part in rest:
        node = cst.Attribute(node, cst.Name(part))
    return node


def _path(root: Path, module: str) -> Path:
    """Return the file or folder of a module."""
    path = root.joinpath("src", *module.split("."))
    return path if path.is_dir() else path.with_suffix(".py")


def move(root: Path, moves: Moves) -> None:
    """Move the files, then rewrite every module of the root folder."""
    for path, module in list(_modules(root)):
        source = path.read_text(encoding="utf-8")
        if (new := rewritten(source, moves, module)) != source:
            path.write_text(new, encoding="utf-8")
    for old, new in moves.modules.items():
        source, target = _path(root, old), root.joinpath("src", *new.split("."))
        target = target if source.is_dir() else target.with_suffix(".py")
        target.parent.mkdir(parents=True, exist_ok=True)
        _git(root, "mv", str(source), str(target))


def _git(root: Path, *arguments: str) -> str:
    command = ["git", "-C", str(root), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def _modules(root: Path) -> Iterator[tuple[Path, str | None]]:
    for folder in _FOLDERS:
        for path in sorted((root / folder).rglob("*.py")):
            inside = folder == "src"
            parts = path.relative_to(root / folder).with_suffix("").parts
            yield path, ".".join(parts) if inside else None


def mentions(root: Path, moves: Moves) -> Iterator[str]:
    """Give the lines of other files that contain an old module, as `path:line: text`."""
    old = [name.replace(".", "/") + ".py" for name in moves.modules]
    old += [f"{'/'.join(name.split('.')[1:])}.py" for name in moves.modules]
    old += moves.modules
    for name in (n for n in _git(root, "ls-files").splitlines() if n.endswith(_TEXTS)):
        text = (root / name).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if any(part in line for part in old):
                yield f"{name}:{number}: {line.strip()[:120]}"


def main(arguments: Sequence[str]) -> None:
    """Do what the module says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("table", type=Path)
    parser.add_argument("--root", type=Path, default=Path(__file__).parents[1])
    given = parser.parse_args(arguments)
    moves = read_moves(given.table.read_text(encoding="utf-8"))
    move(given.root, moves)
    for line in mentions(given.root, moves):
        sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
