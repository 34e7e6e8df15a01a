"""Sentences, tables and numbers that the figures of several subjects share."""

BUILDS = {
    "7.8.3": "in Debian's build, which is slower because of its assertions. Compare ratios, not "
    "times",
    "11.8.1": "in the Release build that `lsmtune engines install` installs",
}
"""Build of a RocksDB version that figures come from."""
ROCKSDB = f"We measured with RocksDB 7.8.3 {BUILDS['7.8.3']}"
MYROCKS = "For MyRocks, we used MariaDB 10.11.19 with RocksDB 6.29, in Debian's build"
DASH = "\N{EN DASH}"


def table_text(heads: list[str], rows: list[list[str]]) -> str:
    lines = [f"| {' | '.join(cells)} |" for cells in [heads, *rows]]
    lines.insert(1, "|---" * len(heads) + "|")
    return "\n".join(lines) + "\n"


def times_text(found: dict[str, float]) -> str:
    return f"{found['median']:.2f} × ({found['low']:.2f}{DASH}{found['high']:.2f})"  # noqa: RUF001
