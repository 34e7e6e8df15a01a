"""Section that compares two trees level by level: two charts and a table."""

from collections.abc import Iterator, Mapping, Sequence

from lsmtune.metrics.measurement import Level
from lsmtune.report.canvas import Key
from lsmtune.report.markup import Html, element, section, table
from lsmtune.report.plots import BASE_BAR, BEST_BAR
from lsmtune.report.sections import levels_picture
from lsmtune.report.text.words import number
from lsmtune.report.tree import LevelBar, Levels
from lsmtune.units import MIB

Tree = Sequence[Level]
_COLUMNS = ("files", "size", "read", "written", "W-Amp")
_CHARTS = {
    "size": ("Size of each level", "the size of the level after all compactions are done"),
    "written": (
        "Bytes written into each level",
        "the bytes that flushes and compactions wrote into the level",
    ),
}


def deepest(tree: Tree) -> int | None:
    """Return the number of the deepest level that contains data."""
    return max((int(level.level[1:]) for level in tree if level.size_bytes), default=None)


def depth_text(tree: Tree) -> str:
    """Return the deepest level that contains data, in words."""
    depth = deepest(tree)
    return "no data in any level" if depth is None else f"data down to L{depth}"


def trees_section(
    topic: str, title: str, prefix: str, names: tuple[str, str], trees: tuple[Tree, Tree]
) -> Html:
    """Return the section; `names` are the names of the trees, `prefix` marks the charts."""
    by_level = tuple({level.level: level for level in tree} for tree in trees)
    levels = sorted({name for tree in by_level for name in tree})
    return section(
        topic, title,
        element("div", *(_chart(prefix, what, names, by_level, levels) for what in _CHARTS),
                class_="pair"),
        table("Levels after the first run", ("level", "tree", *_COLUMNS),
              _rows(names, by_level, levels)),
    )  # fmt: skip


def _chart(
    prefix: str,
    what: str,
    names: tuple[str, str],
    trees: Sequence[Mapping[str, Level]],
    levels: Sequence[str],
) -> Html:
    title, meaning = _CHARTS[what]
    see = f"The two bars of each level, “{names[0]}” and “{names[1]}”, show {meaning}."
    bars = tuple(LevelBar(n, *(_bytes(tree.get(n), what) for tree in trees)) for n in levels)
    keys = (Key(BASE_BAR, names[0]), Key(BEST_BAR, names[1]))
    return levels_picture(f"{prefix}-{what}", Levels(title, see, bars), keys, see)


def _bytes(level: Level | None, what: str) -> int | None:
    if level is None:
        return 0
    return level.size_bytes if what == "size" else level.write_bytes


def _rows(
    names: Sequence[str], trees: Sequence[Mapping[str, Level]], levels: Sequence[str]
) -> Iterator[list[str]]:
    for level in levels:
        for name, tree in zip(names, trees, strict=True):
            if level in tree:
                yield [level, name, *_cells(tree[level])]


def _cells(level: Level) -> Iterator[str]:
    yield str(level.files)
    for size in (level.size_bytes, level.read_bytes, level.write_bytes):
        yield "unknown" if size is None else f"{size / MIB:,.1f} MiB"
    yield "" if level.w_amp_table is None else number(level.w_amp_table)
