"""Column families of the user's OPTIONS file: the one that is tuned, and the others."""

from contextlib import suppress
from pathlib import Path

from lsmtune.errors import Argument, Message, UserError
from lsmtune.knobs.families import DEFAULT_FAMILY, FAMILY_SECTIONS
from lsmtune.metrics.families import check_not_empty, family_sums, listed
from lsmtune.metrics.log_lines import read_lines
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.options_file import OptionsFile, families_in, family_names, parse_options

_CHOOSE = Message("choose one with ", Argument("family", "NAME", "--family NAME (key family)"))
_MOST_LOG_BYTES = 64 << 20
"""A larger LOG next to the file is not read, because that takes too long."""
_MOST_NAMED = 6


def family_notes(given: OptionsFile, family: str) -> tuple[str, ...]:
    """Return a note on the tuned family, unless it is the only one and the default one."""
    others = [name for name in family_names(given.sections) if name != family]
    tuned = f"lsmtune tunes the column family {family} of your file"
    if not others:
        return () if family == DEFAULT_FAMILY else (tuned,)
    return (
        f"{tuned}; the file also has {listed(others, _MOST_NAMED)}; choose another with --family "
        "NAME (key family)",
    )


def check_default_family(text: str, path: Path, family: str) -> None:
    """Raise UserError if a family that the user did not choose is empty, and others are not.

    The file shows that if it has options for other families only. So does the LOG in the folder of
    the file: RocksDB writes both into the folder of the database.
    """
    names = families_in(text, family)
    if len(names) < 2:  # noqa: PLR2004 - there is no other family
        return
    sections = parse_options(text).sections
    with_options = [
        name
        for name in names
        if any(sections.get(f'{section} "{name}"') for section in FAMILY_SECTIONS)
    ]
    if family not in with_options and with_options:
        raise UserError(
            f"base: {path}: the column family {family!r} has no options; families with options: "
            f"{listed(with_options, _MOST_NAMED)}; ",
            _CHOOSE,
        )
    _check_log(path.parent / "LOG", names, family)


def _check_log(path: Path, names: tuple[str, ...], family: str) -> None:
    """Raise UserError if the LOG of the same store shows that the family is empty."""
    try:
        if path.stat().st_size > _MOST_LOG_BYTES:
            return
    except OSError:
        return
    content = None
    with suppress(UserError):
        content = read_log(read_lines(path, []))
    if content is not None and {*names} <= content.options.families.keys():
        check_not_empty(family_sums(content), family, f"base: {path}", _CHOOSE)
