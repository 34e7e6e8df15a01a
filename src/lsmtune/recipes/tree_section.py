"""Two trees side by side: a pair of bars a level, and a table."""

from collections.abc import Iterator, Mapping, Sequence

from lsmtune.metrics.measurement import Level
from lsmtune.report.canvas import Key
from lsmtune.report.frame import picture, section
from lsmtune.report.markup import Html, element, table
from lsmtune.report.plots import BASE_BAR, BEST_BAR, levels_plot
from lsmtune.report.tree import LevelBar, Levels
from lsmtune.report.words import number
from lsmtune.units import MIB

Tree = Sequence[Level]
_COLUMNS = ("files", "size", "read", "written", "W-Amp")
_PICTURES = {
    "size": ("Size", "its size once settled"),
    "written": ("Written", "bytes flushed or compacted into it"),
}


def deepest(tree: Tree) -> int | None:
    """The number of the deepest level that holds data."""
    return max((int(level.level[1:]) for level in tree if level.size_bytes), default=None)


def depth_text(tree: Tree) -> str:
    """How far down data lie."""
    depth = deepest(tree)
    return "nowhere" if depth is None else f"down to L{depth}"


def trees_section(
    topic: str, title: str, prefix: str, names: tuple[str, str], trees: tuple[Tree, Tree]
) -> Html:
    """Two trees by level; `names` are what they are called, `prefix` marks their pictures."""
    by_level = tuple({level.level: level for level in tree} for tree in trees)
    levels = sorted({name for tree in by_level for name in tree})
    heads = ("level", *(f"{name}: {what}" for name in names for what in _COLUMNS))
    return section(
        topic, title,
        element("div", *(_picture(prefix, what, names, by_level, levels) for what in _PICTURES),
                class_="pair"),
        table("Levels of the first run", heads,
              ([level, *_cells(by_level, level)] for level in levels)),
    )  # fmt: skip


def _picture(
    prefix: str,
    what: str,
    names: tuple[str, str],
    trees: Sequence[Mapping[str, Level]],
    levels: Sequence[str],
) -> Html:
    title, meaning = _PICTURES[what]
    see = f"A pair of bars a level: {meaning}; hatched: {names[0]}."
    bars = tuple(LevelBar(n, *(_bytes(tree.get(n), what) for tree in trees)) for n in levels)
    keys = (Key(BASE_BAR, names[0]), Key(BEST_BAR, names[1]))
    return element(
        "div",
        element("h3", title),
        element("p", see, class_="note"),
        picture(f"{prefix}-{what}", levels_plot(Levels(title, see, bars)), keys, see),
    )


def _bytes(level: Level | None, what: str) -> int | None:
    if level is None:
        return 0
    return level.size_bytes if what == "size" else level.write_bytes


def _cells(trees: Sequence[Mapping[str, Level]], name: str) -> Iterator[str]:
    for tree in trees:
        level = tree.get(name)
        if level is None:
            yield from ("",) * len(_COLUMNS)
            continue
        yield str(level.files)
        for told in (level.size_bytes, level.read_bytes, level.write_bytes):
            yield "not told" if told is None else f"{told / MIB:,.1f} MiB"
        yield "" if level.w_amp_table is None else number(level.w_amp_table)
