"""Find the commands and quoted outputs in README.md and docs/.

A comment before a code block says who runs its `lsmtune` commands with the arguments shown:

    <!-- run: tests/test_docs.py -->            in seconds, without RocksDB
    <!-- run: benchmarks/docs_commands.py -->   with real engines
    <!-- run: benchmarks/OTHER.py -->           by a benchmark that does just this

Only --num, --trials and paths are replaced by smaller ones. A code block that contains output
has another comment. scripts/outputs.py runs the command again, unless "by hand" follows it:

    <!-- output of: COMMAND -->
    <!-- output of: COMMAND | lines 1-4 -->
    <!-- output of: COMMAND, by hand -->
"""

import gzip
import re
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
QUICK, REAL = "tests/test_docs.py", "benchmarks/docs_commands.py"
_BLOCK = re.compile(
    r"(?:^<!-- (?P<what>run|output of): (?P<told>.*?) -->\n+)?"
    r"^(?P<fence>```)(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_FILE = re.compile(r"# ([\w-]+\.toml)$", re.MULTILINE)
"""The first line of a study file that is shown: its name."""
_GROWTH = 8
"""How much larger the tree of the tutorial's `lsmtune verify` is: 1/8 instead of 1/64."""
_LINES = re.compile(r"(.*?)(?: \| lines (\d+)-(\d+))?(, by hand)?")


@dataclass(frozen=True, slots=True)
class Block:
    """A code block: who runs it, or the command that it is the output of."""

    page: Path
    line: int
    language: str
    text: str
    runner: str | None
    output_of: str | None

    @property
    def commands(self) -> tuple[str, ...]:
        """The `lsmtune` commands of the block, without comments."""
        if self.output_of is not None or self.language not in ("", "sh"):
            return ()
        joined = self.text.replace("\\\n", " ")
        found = (re.sub(r"\s+#\s.*", "", line).strip() for line in joined.splitlines())
        return tuple(line for line in found if line.startswith("lsmtune "))

    @property
    def place(self) -> str:
        """Page and line, for messages."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> list[Path]:
    """Return README.md and the pages that people write."""
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """Yield the code blocks of a page."""
    text = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(text):
        told, what = found["told"], found["what"]
        yield Block(
            page, text.count("\n", 0, found.start("fence")) + 1, found["language"], found["text"],
            told if what == "run" else None, told if what == "output of" else None,
        )  # fmt: skip


def prose(page: Path) -> str:
    """Return the text of a page without its code blocks."""
    return _BLOCK.sub("", page.read_text(encoding="utf-8"))


def with_outputs(text: str, run: Callable[[str], str]) -> str:
    """Return a page's text with each quoted output as `run(command)` returns it now."""

    def again(found: re.Match[str]) -> str:
        quoted = _LINES.fullmatch(found["told"] or "")
        if found["what"] != "output of" or quoted is None or quoted[4]:
            return found[0]
        lines = run(quoted[1]).splitlines()
        if quoted[2]:
            lines = [*lines[int(quoted[2]) - 1 : int(quoted[3])], "…"]
        head = found[0][: found.start("text") - found.start()]
        return head + "".join(f"{line.rstrip()}\n" for line in lines) + "```"

    return _BLOCK.sub(again, text)


def arguments(command: str, num: int, trials: int, paths: Mapping[str, str]) -> list[str]:
    """Return a command's arguments, --num and --trials at most that large, with paths replaced."""
    given = shlex.split(command)[1:]
    # A verification with a larger tree needs as many more records.
    records = num * _GROWTH if given[0] == "verify" else num
    for flag, most in (("--num", records), ("--trials", trials)):
        if flag in given:
            at = given.index(flag) + 1
            # `--trial` is a number of a trial and stays.
            given[at] = str(min(int(given[at]), most))
    return [paths.get(word, word) for word in given]


MY_CNF = """[mysqld]
rocksdb_block_cache_size = 64M
rocksdb_default_cf_options = "write_buffer_size=1m;max_bytes_for_level_base=4m"
"""
"""A my.cnf that a few trials can improve, so that a page can export the winner."""


def make_sandbox(folder: Path) -> None:
    """Put the files that documented commands name into the folder."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copytree(ROOT / "docs" / "studies", folder / "docs" / "studies")
    log = gzip.decompress((ROOT / "examples" / "LOG.gz").read_bytes())
    for place in ("LOG", "store/LOG", "before/LOG", "after/LOG"):
        (folder / place).parent.mkdir(exist_ok=True)
        (folder / place).write_bytes(log)
    shutil.copy(ROOT / "examples" / "OPTIONS", folder / "OPTIONS-000123")
    for block in (b for page in pages() for b in blocks(page) if b.language == "toml"):
        if named := _FILE.match(block.text):
            (folder / named[1]).write_text(block.text)
    (folder / "my.cnf").write_text(MY_CNF)
