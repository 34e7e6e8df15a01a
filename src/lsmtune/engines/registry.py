"""The engine of a study, from the entry of its name."""

from collections.abc import Iterator

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Engine
from lsmtune.engines.entry import EngineEntry, checked_entry
from lsmtune.errors import Argument, UserError
from lsmtune.knobs.option_files import LOG, OF_ENGINES, foreign_kind, kind_among
from lsmtune.spec import StudySettings
from lsmtune.tables import EngineSettings
from lsmtune.workloads import EngineName


def make_engine(name: EngineName, program: str, settings: EngineSettings | None = None) -> Engine:
    """Return the engine of that name with its program, as a new study without other keys has it.

    `settings` is the table of the engine, such as [tikv].
    """
    table = {} if settings is None else {name: settings}
    return engine_of(StudySettings.model_validate({"engine": name, "program": program, **table}))


def engine_of(spec: StudySettings) -> Engine:
    """Return the engine that runs the study.

    UserError if the engine cannot be used, for instance because the RocksDB of the study is not
    installed.
    """
    return entry_of(spec.engine).make(spec)


def entry_of(name: EngineName) -> EngineEntry:
    """Return the entry of an engine that lsmtune knows; UserError if its package is unusable."""
    found = ENGINES[name]
    if not isinstance(found, EngineEntry):
        raise UserError(f"engine: {name!r} is no EngineEntry, so it makes no engine")
    return found


def usable_entries() -> Iterator[EngineEntry]:
    """Yield the entries of all engines, without those of packages that cannot be used."""
    return (entry for entry in ENGINES.usable() if isinstance(entry, EngineEntry))


def add_engine(entry: EngineEntry) -> None:
    """Add an engine to this process, for instance one from `function_engine`.

    UserError for the name of an engine of lsmtune or of an installed package, or if lsmtune cannot
    use the entry.
    """
    try:
        checked_entry(entry.name, entry)
    except ValueError as error:
        raise UserError(f"engine: {entry.name!r} cannot be used: {error}") from error
    if ENGINES.is_offered(entry.name):
        if ENGINES[entry.name] is entry:
            return
        raise UserError(f"engine: {entry.name!r} is the name of another engine; choose another one")
    ENGINES[entry.name] = entry


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
