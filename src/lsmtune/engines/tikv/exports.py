"""File to deploy on TiKV: the user's tikv.toml."""
# ruff: noqa: PLC0415 - commands that export nothing read the entry

from pathlib import Path

from lsmtune.engines.exports import (
    Differences,
    Export,
    Exported,
    ExportFormat,
    UserFile,
    edited_remark,
    named_file,
    noted,
    part_warning,
    without_notes,
)
from lsmtune.engines.tikv.settings import cluster_of
from lsmtune.errors import UserError
from lsmtune.knobs.types import Settings
from lsmtune.reading import read_text
from lsmtune.spec import StudySettings
from lsmtune.system.stand_in import StandIn
from lsmtune.trials import Base


class TikvToml(ExportFormat):
    """The user's tikv.toml, in which only tuned keys change."""

    name = "tikv-toml"
    file_name = "tikv.toml"
    has_base = True

    def user_file(self, spec: StudySettings, base: Base, named: Path | None) -> UserFile:
        """Return the file that TiKV starts with, or only the tables of the store.

        A study keeps no other tables, because they may contain secrets.
        """
        from lsmtune.engines.tikv.options import of_store, with_store

        if named is not None:
            return named_file(named)
        kept, config = base.given or "", cluster_of(spec).config_path
        path = config or (Path(spec.base) if spec.base else None)
        if path is None:
            return _part(kept, "the study does not know your tikv.toml")
        try:
            text = read_text(path, str(path)) if config is None else StandIn(config).own_text()
            text = without_notes(text)
            same_file = config is None or spec.base is None
            edited = same_file and of_store(text, str(path)) != kept
        except UserError as error:
            return _part(kept, str(error))
        remark = edited_remark(path) if edited else None
        return UserFile(with_store(text, kept), path, remark=remark)

    def differences(self, export: Export, wanted: Settings) -> Differences:
        """Return the keys of the file that do not have the wanted values."""
        from lsmtune.engines.tikv.toml_file import differences

        knobs, base = export.knobs_of(wanted), export.ground.base.settings
        return differences(knobs, wanted, base, export.file.text)

    def write(self, export: Export) -> Exported:
        """Return the file with notes on how its keys come into effect."""
        from lsmtune.engines.tikv.toml_file import deployment_lines, differing, export_tikv_toml

        base, text = export.ground.base.settings, export.file.text
        changed = export.changed
        if export.named:
            changed = list(differing(changed, export.new, base, text))
        status = cluster_of(export.spec).status
        exported = export_tikv_toml(
            export.knobs_of(export.written),
            export.ground.catalogue.restricted(base),
            export.new if export.written else {},
            base,
            text,
            note=noted(export, deployment_lines(changed, export.new, status)),
        )
        return Exported(exported, export.file.path)


def _part(kept: str, why: str) -> UserFile:
    return UserFile(kept, missing=part_warning("TiKV", "[rocksdb] and [storage]", why))


EXPORTS = (TikvToml(),)
"""The formats of the engine; the first one is the one to deploy."""
