"""The files of online tuning: the file to deploy, and the file to undo it."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from lsmtune.analysis.deploy import format_to_deploy
from lsmtune.analysis.study_view import StudyView
from lsmtune.api.export import Deployment
from lsmtune.engines.exports import Export, Exported
from lsmtune.errors import Argument, UserError
from lsmtune.knobs.types import Config
from lsmtune.report.export_notes import ascii_text
from lsmtune.spaces import rescaled
from lsmtune.study.record import StudyRecord

_KEPT, _BACK = (
    "the changes that online tuning kept", "values of the baseline, to undo the change"
)  # fmt: skip


def online_files(record: StudyRecord, kept: Config) -> Deployment:
    """Return the file with the changes that online tuning kept, and the file to undo them.

    Both have values for a full-size tree.
    """
    spec, ground, spaces, name = record.spec, record.ground, record.spaces, record.stored.name
    before, after = (
        rescaled(spaces, config, Fraction(1)) for config in (spaces.at().default(), kept)
    )
    changes = {knob: after[knob] for knob in kept if after[knob] != before[knob]}
    scale = [f"UNVERIFIED at scale 1: found at scale {spec.scale}."] if spec.scale != "1" else []
    form = format_to_deploy(spec.engine)
    own = form.user_file(spec, ground.base, None)
    about_file = [note for note in (own.missing,) if note is not None]

    def heading(what: str, *lines: str) -> str:
        return ascii_text("\n".join([f"lsmtune, study {name}: {what}", *about_file, *lines]))

    options = Export(
        spec=spec,
        ground=ground,
        tuned=tuple(changes),
        old=ground.base.settings,
        new={**ground.base.settings, **changes},
        written=changes,
        file=own,
        named=False,
        online=True,
        heading=heading(_KEPT, *(scale if changes else [])),
    )
    back = replace(options, old=options.new, new=options.old, written={}, heading=heading(_BACK))
    return Deployment(form.file_name, form.write(options), form.write(back), tuple(changes))


def online_export(
    record: StudyRecord, view: StudyView, form: str | None, base: Path | None, *, back: bool
) -> Exported:
    """Return the file to deploy, or with `back` the file to undo it.

    UserError if online tuning kept no change, or for another format or file.
    """
    usual = format_to_deploy(view.engine).name
    if form not in (None, usual):
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
