"""Reading the file that the user gives as baseline, for the engine of the study."""

from lsmtune.engines.registry import entry_of, usable_entries
from lsmtune.errors import Argument, UserError
from lsmtune.knobs.option_files import LOG, OF_ENGINES, foreign_kind, kind_among


def read_base(text: str, path: str, engine: str) -> tuple[str, tuple[str, ...]]:
    """Return a baseline as its engine gets it, and remarks about it.

    UserError if the engine reads no file, or if the file is of a kind that it does not read.
    """
    own = entry_of(engine)
    if not own.base_files:
        raise UserError(f"base: not used by engine {engine}; remove base")
    kind = kind_among(text, (*own.base_files, *OF_ENGINES))
    if kind is None:  # maybe a file of another package, which is imported only for the message
        kind = kind_among(text, (file for entry in usable_entries() for file in entry.base_files))
    if kind is None:
        if (told := foreign_kind(text)) is not None:
            raise UserError(f"base: {path}: {told}")
        return text, ()
    if kind is LOG:
        raise UserError(
            f"base: {path}: this file is a LOG; `lsmtune inspect {path} --to-study FILE` writes a "
            "study with the options of the LOG"
        )
    if kind in own.base_files:
        return kind.read(text, path)
    which = f"this file is a{'n' if kind.name[0] in 'AEIOaeio' else ''} {kind.name}"
    reader = next((entry.name for entry in usable_entries() if kind in entry.base_files), None)
    if reader is None:
        raise UserError(
            f"base: {path}: {which}, and lsmtune does not tune its store; use the OPTIONS file "
            "that RocksDB writes next to the data"
        )
    raise UserError(f"base: {path}: {which}; add ", Argument("engine", reader))
