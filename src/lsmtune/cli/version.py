"""The versions that `lsmtune --version` prints."""

from lsmtune.api.version import versions
from lsmtune.cli.tables import paragraph


def version_lines() -> list[str]:
    """Return a line each for lsmtune, the simulator, the usual RocksDB and db_bench.

    The last line is left out if there is a RocksDB, but no db_bench. A narrow terminal breaks the
    lines between words.
    """
    found = versions()
    lines = [
        f"lsmtune    {found.lsmtune}",
        f"simulator  {found.simulator}",
        f"RocksDB    {found.rocksdb or 'not installed'}",
    ]
    if found.db_bench is not None or found.rocksdb is None:
        lines.append(f"db_bench   {found.db_bench or 'not found'}")
    return [part for line in lines for part in paragraph(line, hanging=2)]
