"""Read the defaults of RocksDB's options from the headers of every version.

    .venv/bin/python benchmarks/rocksdb_defaults.py CLONE

CLONE is a git clone of RocksDB with its tags and release branches. Writes
src/lsmtune/data/rocksdb_defaults.json: for each option, under its name in a LOG, the versions from
which each default applies. null means that the option was removed.
"""

import argparse
import ast
import json
import operator
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

DATA = Path(__file__).parents[1] / "src" / "lsmtune" / "data" / "rocksdb_defaults.json"
OLDEST = (5, 4)
"""Before that constructors set the defaults, not the headers."""

HEADERS = ("options.h", "advanced_options.h", "table.h", "universal_compaction.h",
           "compression_type.h")  # fmt: skip
STRUCTS = {
    "DBOptions": "",
    "ColumnFamilyOptions": "",
    "AdvancedColumnFamilyOptions": "",
    "BlockBasedTableOptions": "",
    "CompressionOptions": "compression_opts.",
    "CompactionOptionsUniversal": "compaction_options_universal.",
    "CompactionOptionsFIFO": "compaction_options_fifo.",
}
NAMED_CONSTANTS = {
    "UINT_MAX": 2**32 - 1, "INT_MAX": 2**31 - 1, "port::kMaxInt32": 2**31 - 1,
    "kDefaultCompressionLevel": 32767, "nullptr": "nullptr",
    "std::numeric_limits<unsigned int>::max()": 2**32 - 1,
    "std::numeric_limits<uint64_t>::max()": 2**64 - 1,
}  # fmt: skip
LOGGED_AS_NUMBER = {"index_type", "checksum", "data_block_index_type", "index_shortening",
                    "wal_recovery_mode", "prepopulate_block_cache", "wal_compression"}  # fmt: skip
"""Enumerations that a LOG prints as numbers."""

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_STRUCT = re.compile(r"\b(?:struct|class) (?:ROCKSDB_\w+ )?(\w+)[^;{]*\{")
_ENUM = re.compile(r"\benum (?:class )?\w+[^;{]*\{([^}]*)\}")
_MEMBER = re.compile(r"^\s*[\w:<>,\s]*?[\w>]\s+(\w+)\s*=\s*([^;{}]+);", re.MULTILINE)
_INITIALISER = re.compile(r"[:,]\s*(\w+)\(((?:[^()]|\([^()]*\))*)\)")
_OPERATORS = {ast.Mult: operator.mul, ast.LShift: operator.lshift, ast.Sub: operator.sub,
              ast.Add: operator.add, ast.Div: operator.truediv}  # fmt: skip

Version = tuple[int, int]


def releases(clone: Path) -> dict[Version, str]:
    """Return the newest tag of each version, or its release branch."""
    found: dict[Version, tuple[tuple[int, ...], str]] = {}
    refs = git(clone, "for-each-ref", "--format=%(refname)").split()
    for ref in refs:
        match = re.search(r"/(?:v(\d+)\.(\d+)(?:\.(\d+))?|(\d+)\.(\d+)\.fb)$", ref)
        if match:
            numbers = tuple(int(part) for part in match.groups() if part is not None)
            version = (numbers[0], numbers[1])
            found[version] = max(found.get(version, ((), "")), (numbers, ref))
    return {version: ref for version, (_, ref) in sorted(found.items()) if version >= OLDEST}


def git(clone: Path, *arguments: str) -> str:
    """Return the output of git."""
    return subprocess.run(
        ["git", "-C", str(clone), *arguments],  # noqa: S607 - whichever git there is
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def defaults(headers: str) -> dict[str, object]:
    """Return the default of each option in the headers of one version."""
    text = COMMENT.sub("", headers)
    constants = {**NAMED_CONSTANTS, **enumerators(text)}
    return {
        prefix + name: value
        for struct, prefix in STRUCTS.items()
        for body in bodies(text, struct)
        for name, expression in [*_MEMBER.findall(body), *_INITIALISER.findall(body)]
        if (value := evaluated(name, expression, constants)) is not None
    }


def bodies(text: str, struct: str) -> Iterator[str]:
    """Return the text between the braces of a struct."""
    for match in _STRUCT.finditer(text):
        if match[1] == struct:
            depth, end = 1, match.end()
            while depth and end < len(text):
                depth += {"{": 1, "}": -1}.get(text[end], 0)
                end += 1
            yield text[match.end() : end - 1]


def enumerators(text: str) -> dict[str, int]:
    """Return the numbers of all names that enumerations define."""
    numbers: dict[str, int] = {}
    for body in _ENUM.findall(text):
        following = 0
        for item in body.split(","):
            name, _, told = (part.strip() for part in item.partition("="))
            if re.fullmatch(r"\w+", name):
                number = numbers.get(told, following)
                numbers[name] = (
                    int(told, 0)
                    if re.fullmatch(r"-?\w*\d\w*", told) and told not in numbers
                    else number
                )
                following = numbers[name] + 1
    return numbers


def evaluated(name: str, expression: str, constants: dict[str, object]) -> object:
    """Return the value of an initialiser for JSON; None if it is not a plain value."""
    told = " ".join(expression.split())
    if told in ("true", "false"):
        return told == "true"
    base = told.rpartition("::")[2]
    if base in constants and name not in LOGGED_AS_NUMBER and base.startswith("k"):
        return constants[base] if base == "kDefaultCompressionLevel" else base
    if told in constants or base in constants:
        return constants.get(told, constants.get(base))
    plain = re.sub(r"(?<=[0-9a-fA-F])(?:[uU]?[lL]{0,2})\b", "", told)
    plain = re.sub(r"static_cast<\w+>|\buint64_t\b|\bsize_t\b", "", plain)
    try:
        return arithmetic(ast.parse(plain.strip(), mode="eval").body)
    except (SyntaxError, ValueError):
        return None


def arithmetic(node: ast.AST) -> int | float:
    """Return the value of an expression of numbers."""
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -arithmetic(node.operand)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](arithmetic(node.left), arithmetic(node.right))
    raise ValueError(ast.dump(node))


def main() -> None:
    """Read every version and write the changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clone", type=Path)
    clone = parser.parse_args().clone
    history: dict[str, list[list[object]]] = {}
    found = releases(clone)
    for version, ref in found.items():
        present = set(git(clone, "ls-tree", "--name-only", ref, "include/rocksdb/").split())
        paths = [f"include/rocksdb/{header}" for header in HEADERS]
        text = "\n".join(git(clone, "show", f"{ref}:{path}") for path in paths if path in present)
        note(history, "{}.{}".format(*version), defaults(text))
    newest = "{}.{}".format(*max(found))
    versions = {"oldest": "{}.{}".format(*min(found)), "newest": newest}
    lines = (f"    {json.dumps(name)}: {json.dumps(changes)}" for name, changes in
             sorted(history.items()))  # fmt: skip
    DATA.write_text(
        f'{{\n  "versions": {json.dumps(versions)},\n  "options": {{\n'
        + ",\n".join(lines)
        + "\n  }\n}\n"
    )


def note(history: dict[str, list[list[object]]], version: str, found: dict[str, object]) -> None:
    """Record the options that are new, changed or removed in a version."""
    for name in {*history, *found}:
        changes = history.setdefault(name, [])
        value = found.get(name)
        if (not changes and value is not None) or (changes and changes[-1][1] != value):
            changes.append([version, value])


if __name__ == "__main__":
    main()
