"""The user's own files: the texts that an export changes."""

from dataclasses import dataclass
from pathlib import Path

from lsmtune.engines.myrocks.options import (
    read_base,
    server_variables,
    variables_of,
    with_file,
)
from lsmtune.engines.option_files import base_text
from lsmtune.engines.tikv.options import of_store, with_store
from lsmtune.engines.tikv.settings import cluster_of
from lsmtune.errors import Argument, Message, UserError
from lsmtune.knobs.families import with_families
from lsmtune.knobs.types import Settings
from lsmtune.reading import read_text
from lsmtune.report.export import without_notes
from lsmtune.report.my_cnf import with_variables
from lsmtune.spec import Ground, StudySettings
from lsmtune.system.stand_in import StandIn
from lsmtune.trials import Base


@dataclass(frozen=True, slots=True)
class OwnFile:
    """A file to change, without notes of an earlier export.

    `path` is the user's file that the text comes from, None if the study keeps the text. `missing`
    says why the text is only the part of a file that the study keeps. `edited`: the user's file
    has other RocksDB options than the baseline; the text has those of the baseline.
    """

    text: str
    path: Path | None = None
    missing: str | None = None
    edited: bool = False


def named_file(path: Path) -> OwnFile:
    """Return the file that the user named with --base; UserError if it cannot be read."""
    text, _ = base_text(_read(path, Message(Argument("base", path))), str(path))
    return OwnFile(text, path)


def own_options(base: Base) -> OwnFile:
    """Return the OPTIONS file of the baseline, which the study keeps."""
    return OwnFile(without_notes(base.given or base.options))


def own_my_cnf(spec: StudySettings, base: Base) -> OwnFile:
    """Return the user's my.cnf, or only RocksDB's variables if it cannot be read.

    A study keeps no other variables, because they may contain passwords.
    """
    kept = base.given or ""
    if spec.base is None:
        return OwnFile(kept)
    path = Path(spec.base)
    try:
        text = _read(path, str(path))
    except UserError as error:
        return OwnFile(kept, missing=str(error))
    restored = with_variables(text, read_base(kept))
    return OwnFile(restored, path, edited=restored != text)


def own_tikv_toml(spec: StudySettings, base: Base) -> OwnFile:
    """Return the file that TiKV starts with, or only the tables of the store.

    A study keeps no other tables, because they may contain secrets.
    """
    kept, config = base.given or "", cluster_of(spec).config_path
    path = config or (Path(spec.base) if spec.base else None)
    if path is None:
        return OwnFile(kept, missing="the study does not know your tikv.toml")
    try:
        text = _read(path, str(path)) if config is None else StandIn(config).own_text()
        text = without_notes(text)
        same_file = config is None or spec.base is None
        edited = same_file and of_store(text, str(path)) != kept
    except UserError as error:
        return OwnFile(kept, missing=str(error))
    return OwnFile(with_store(text, kept), path, edited=edited)


def my_cnf_variables(
    spec: StudySettings, ground: Ground, tuned: Settings, text: str
) -> dict[str, str]:
    """Return the variables that a my.cnf with the tuned settings has."""
    base = ground.base
    given = {name: value for _, name, value in server_variables(text)}
    before = {name: value for _, name, value in server_variables(base.given or "")}
    own = with_families(base.settings, spec.workload.column_families)
    options, settings = with_file(ground.catalogue, base.options, own, before, given)
    return variables_of(ground.catalogue, options, settings, given, {**settings, **tuned})


def _read(path: Path, where: str) -> str:
    return without_notes(read_text(path, where))
