"""File to deploy on MyRocks: the user's my.cnf."""
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
from lsmtune.errors import UserError
from lsmtune.knobs.families import with_families
from lsmtune.knobs.types import Settings
from lsmtune.reading import read_text
from lsmtune.spec import StudySettings
from lsmtune.trials import Base

RESTART = "Restart the server: it reads this file only when it starts."


class MyCnf(ExportFormat):
    """The user's my.cnf, in which only variables of RocksDB change."""

    name = "my.cnf"
    file_name = "my.cnf"
    has_base = True
    read_at_start = True
    effect = "The server reads the exported file when it starts."

    def user_file(self, spec: StudySettings, base: Base, named: Path | None) -> UserFile:
        """Return the user's my.cnf, or only RocksDB's variables if it cannot be read.

        A study keeps no other variables, because they may contain passwords.
        """
        from lsmtune.engines.myrocks.my_cnf import with_variables
        from lsmtune.engines.myrocks.options import read_base

        if named is not None:
            return named_file(named)
        kept = base.given or ""
        if spec.base is None:
            return UserFile(kept)
        path = Path(spec.base)
        try:
            text = without_notes(read_text(path, str(path)))
        except UserError as error:
            return UserFile(
                kept, missing=part_warning("the server", "the rocksdb_ variables", str(error))
            )
        restored = with_variables(text, read_base(kept))
        return UserFile(restored, path, remark=None if restored == text else edited_remark(path))

    def differences(self, export: Export, wanted: Settings) -> Differences:
        """Return the variables of the file that do not have the wanted values."""
        from lsmtune.engines.myrocks.my_cnf import differences

        return differences(export.file.text, _variables(export, wanted))

    def write(self, export: Export) -> Exported:
        """Return the file with the changed variables."""
        from lsmtune.engines.myrocks.my_cnf import export_my_cnf

        variables = _variables(export, export.written)
        text = export_my_cnf(export.file.text, variables, noted(export, [RESTART]))
        return Exported(text, export.file.path)


def _variables(export: Export, tuned: Settings) -> dict[str, str]:
    """Return the variables that the file has with these values of tuned options."""
    from lsmtune.engines.myrocks.options import variables_of, with_file
    from lsmtune.knobs.my_cnf import server_variables

    catalogue, base = export.ground.catalogue, export.ground.base
    given = {name: value for _, name, value in server_variables(export.file.text)}
    before = {name: value for _, name, value in server_variables(base.given or "")}
    own = with_families(base.settings, export.spec.workload.column_families)
    options, settings = with_file(catalogue, base.options, own, before, given)
    return variables_of(catalogue, options, settings, given, {**settings, **tuned})


EXPORTS = (MyCnf(),)
"""The formats of the engine; the first one is the one to deploy."""
