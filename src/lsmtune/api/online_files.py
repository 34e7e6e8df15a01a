"""The files of online tuning: the file to deploy, and the file to undo it."""

from fractions import Fraction
from pathlib import Path

from lsmtune.analysis.deploy import FILES, formats
from lsmtune.analysis.study_view import StudyView
from lsmtune.api.export import RESTART, Deployment, Exported
from lsmtune.api.own_files import my_cnf_variables, own_my_cnf, own_options
from lsmtune.errors import Argument, UserError
from lsmtune.knobs.option_text import DERIVED, derived_settings
from lsmtune.knobs.types import Config, Settings
from lsmtune.report.export import (
    LAST_NOTE,
    OptionsBase,
    ascii_text,
    deployment_lines,
    export_options,
)
from lsmtune.report.my_cnf import export_my_cnf
from lsmtune.rescale import rescaled
from lsmtune.spec import Ground, StudySettings
from lsmtune.study.record import StudyRecord

_Headings = tuple[list[str], list[str]]
"""First notes of the file to deploy, and of the file to undo."""

_KEPT, _BACK = (
    "the changes that online tuning kept", "values of the baseline, to undo the change"
)  # fmt: skip


def online_files(record: StudyRecord, kept: Config) -> Deployment:
    """Return the file with the changes that online tuning kept, and the file to undo them.

    Both have values for a full-size tree. The file is a my.cnf or an OPTIONS file. The notes of an
    OPTIONS file have the calls that change the options at run time.
    """
    spec, ground, spaces, name = record.spec, record.ground, record.known_spaces, record.stored.name
    before, after = (
        rescaled(spaces, config, Fraction(1)).settings for config in (spaces.at().default(), kept)
    )
    changes = {knob: after[knob] for knob in kept if after[knob] != before[knob]}
    scale = [f"UNVERIFIED at scale 1: found at scale {spec.scale}."] if spec.scale != "1" else []
    headings = (
        [f"lsmtune, study {name}: {_KEPT}", *(scale if changes else [])],
        [f"lsmtune, study {name}: {_BACK}"],
    )
    files = (_options if spec.engine == "rocksdb" else _my_cnf)(spec, ground, changes, headings)
    return Deployment(FILES[formats(spec.engine)[0]], *files)


def online_export(
    record: StudyRecord, view: StudyView, form: str, base: Path | None, *, back: bool
) -> Exported:
    """Return the file to deploy, or with `back` the file to undo it.

    UserError if online tuning kept no change, or for another format or file.
    """
    usual = formats(view.engine)[0]
    if form != usual:
        raise UserError(
            Argument("form", form, f"--format {form}"),
            f": not available for online tuning; available: {usual}",
        )
    if base is not None:
        raise UserError(
            Argument("base"),
            ": not allowed for a study of online tuning; remove ",
            Argument("base", flag="the flag"),
        )
    if view.online is None or not view.online.kept:
        raise UserError(
            f"study {view.name!r}: nothing to export; online tuning kept no change. Keep the "
            "baseline"
        )
    files = online_files(record, Config(view.online.config))
    return files.back if back else files.options


def _my_cnf(
    spec: StudySettings, ground: Ground, changes: Settings, headings: _Headings
) -> tuple[Exported, Exported]:
    own = own_my_cnf(spec, ground.base)
    about = [f"{own.missing}; this file has only the rocksdb_ variables."] if own.missing else []

    def file(settings: Settings, heading: list[str]) -> Exported:
        note = "\n".join([heading[0], *about, RESTART, *heading[1:], LAST_NOTE])
        variables = my_cnf_variables(spec, ground, settings, own.text)
        return Exported(export_my_cnf(own.text, variables, note), own.path)

    return file(changes, headings[0]), file({}, headings[1])


def _options(
    spec: StudySettings, ground: Ground, changes: Settings, headings: _Headings
) -> tuple[Exported, Exported]:
    own = own_options(ground.base)
    before, after = ground.base.settings, {**ground.base.settings, **changes}
    # At run time, what RocksDB derives from a changed option when it opens a store must be set too.
    followers = [n for n in derived_settings(before) if DERIVED[n][0] in changes]
    before, after = (
        {**of, **{n: derived_settings(of)[n] for n in followers}} for of in (before, after)
    )
    knobs = [k for k in ground.catalogue.knobs if k.name in changes or k.name in followers]
    old = OptionsBase(own.text, spec.family)
    new = OptionsBase(export_options(knobs, after, old, ""), spec.family)
    to_new = _note(headings[0], deployment_lines(knobs, before, after, old))
    to_old = _note(headings[1], deployment_lines(knobs, after, before, new))
    return (
        Exported(export_options(knobs, after, old, to_new), own.path),
        Exported(export_options((), {}, old, to_old), own.path),
    )


def _note(heading: list[str], lines: list[str]) -> str:
    return ascii_text("\n".join([*heading, *lines, LAST_NOTE]))
