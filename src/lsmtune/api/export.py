"""Work of `lsmtune export`: the files to deploy and to undo."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path

from lsmtune.analysis.claim import Claim, claim_of
from lsmtune.analysis.deploy import export_command, format_to_deploy, formats
from lsmtune.analysis.read_study import view_of
from lsmtune.analysis.study_view import StudyView
from lsmtune.engines.base import Deployed
from lsmtune.engines.exports import Differences, Export, Exported, ExportFormat
from lsmtune.errors import Argument, Message, ParseError, UserError
from lsmtune.knobs.families import with_families
from lsmtune.knobs.types import Config, Settings
from lsmtune.report.export_notes import ascii_text, export_notes
from lsmtune.report.text.rehearsal_text import rehearsal_sentence
from lsmtune.report.text.words import sentence_start
from lsmtune.spaces import preset_start, rescaled
from lsmtune.spec import without_load
from lsmtune.store.records import StoredTrial
from lsmtune.study.record import StudyRecord
from lsmtune.study.session import Session
from lsmtune.system.write import Written

__all__ = ["Exported", "Written"]


@dataclass(frozen=True, slots=True)
class Deployment:
    """File name and files of a deployment: the winner's options, and the baseline's to undo it."""

    name: str
    options: Exported
    back: Exported
    changed: tuple[str, ...]


def deployment(record: StudyRecord, claim: Claim) -> Deployment:
    """Return the files to deploy and to undo: the user's file, or what the study keeps of it."""
    form = format_to_deploy(claim.view.engine)
    _check_trial(claim.view)
    exporter = _Exporter(record, claim)
    options, undo = (exporter.file(form, None, back=back) for back in (False, True))
    return Deployment(form.file_name, options, undo, exporter.changed())


def deployed(record: StudyRecord, claim: Claim) -> Deployed:
    """Return the files of a deployment for a rehearsal, as `lsmtune export` writes them."""
    files = deployment(record, claim)
    exporter, form = _Exporter(record, claim), format_to_deploy(claim.view.engine)
    return Deployed(
        exported=files.options.text,
        undo=files.back.text,
        changed=files.changed,
        only=lambda names: exporter.file(form, None, back=False, only=names).text,
        family=record.spec.family,
        new_store=bool(record.spec.new_store),
    )


def files_of(study: Session, trial: int | None = None) -> Deployed:
    """Return the files of the winner of an open study, or of the trial of this number."""
    return deployed(study.record, claim_of(view_of(study.home, study.record, trial)))


def exported(
    record: StudyRecord, claim: Claim, form: str | None, base: Path | None, *, back: bool
) -> Exported:
    """Return the exported file, with values for a full-size tree.

    `form` is the name of a format, None for the one to deploy. Raises UserError if there is nothing
    to export, if the engine does not have this format, or if `back` cannot restore the user's own
    file.
    """
    view = claim.view
    _check_trial(view)
    if not back:
        _check_claim(claim)
    chosen = _format(view.engine, form)
    if base is not None and not chosen.has_base:
        raise UserError(_not_with_base(view.engine, chosen))
    return _Exporter(record, claim).file(chosen, base, back=back)


def _format(engine: str, name: str | None) -> ExportFormat:
    """Return the format of this name; UserError if the engine does not have it."""
    known = {form.name: form for form in formats(engine)}
    if name is None:
        return format_to_deploy(engine)
    if name not in known:
        near = get_close_matches(name, known, n=1)
        hint = f"did you mean {near[0]!r}? Available" if near else "available"
        raise UserError(
            Argument("form", name, f"--format {name}"),
            f": not available for engine {engine}; {hint}: {', '.join(known)}",
        )
    return known[name]


def _not_with_base(engine: str, form: ExportFormat) -> Message:
    """Return why a format does not change a file of the user, and which format does."""
    others = [other.name for other in formats(engine) if other.has_base]
    remedy = [f"; allowed: {', '.join(others)}"] if others else ["; remove ", Argument("base")]
    return Message(
        Argument("base"),
        ": not allowed with ",
        Argument("form", form.name, f"--format {form.name}"),
        *remedy,
    )


def _check_trial(view: StudyView) -> None:
    if view.best_trial is None:
        raise UserError(
            f"study {view.name!r}: nothing to export; no trial beat the baseline within the limits"
        )


def _check_claim(claim: Claim) -> None:
    """Raise UserError if pairs of runs did not prove a gain, unless the user picked the trial."""
    view, rehearsal = claim.view, claim.view.rehearsal
    if rehearsal is not None and not rehearsal.passed:
        raise UserError(f"study {view.name!r}: nothing to export; {rehearsal_sentence(rehearsal)}")
    if claim.status in ("no gain", "loss") and not view.picked:
        raise UserError(
            f"study {view.name!r}: nothing to export; {claim.pairs} pairs of runs did not prove a "
            f"gain of trial {claim.trial}. Keep the baseline. To export the trial all the same, "
            "add ",
            Argument("trial", claim.trial),
        )


_NAME_YOUR_FILE = "To write the changes into your own file, name your file with --base:"


class _Exporter:
    """Exports a trial of a study, or its baseline."""

    def __init__(self, record: StudyRecord, claim: Claim) -> None:
        self._view = claim.view
        self._claim = claim
        self._history = record.history
        self._spaces = record.spaces
        self._spec, self._ground = record.spec, record.ground
        self._base = self._ground.base
        self._begun = preset_start(self._spec, self._ground)

    def changed(self) -> tuple[str, ...]:
        """Return the names of the options that the exported file changes."""
        old, new = self._old(), self._full_size(self._best_run().config)
        return tuple(name for name in self._tuned() if new[name] != old[name])

    def file(
        self,
        form: ExportFormat,
        base: Path | None,
        *,
        back: bool,
        only: Collection[str] | None = None,
    ) -> Exported:
        """Return the exported file; with `only`, other options keep their old values."""
        tuned, old = self._tuned(), self._old()
        new = self._full_size(self._best_run().config)
        if only is not None:
            new = {name: new[name] if name in only else old[name] for name in new}
        before, after = (new, old) if back else (old, new)
        changed = {name: after[name] for name in tuned if after[name] != before[name]}
        # The user's own file has the values of the baseline already.
        is_baseline = base is None and self._base.given is not None
        export = Export(
            spec=self._spec,
            ground=self._ground,
            tuned=tuned,
            old=before,
            new=after,
            written={} if back and is_baseline else changed,
            file=form.user_file(self._spec, self._base, base),
            named=base is not None,
            heading=self._heading(back=back),
        )
        try:
            if form.has_base:
                export = replace(export, heading=self._user_heading(form, export, base, back=back))
            return form.write(export)
        except ParseError as error:
            raise UserError(Argument("base", base), ": ", error.message) from error

    def _tuned(self) -> tuple[str, ...]:
        of_store = without_load(dict(self._base_run().config))
        return (*of_store, *(name for name in self._begun if name not in of_store))

    def _old(self) -> Settings:
        """Return the values of the baseline at full size."""
        return {**self._full_size(self._base_run().config), **self._own_of_begun()}

    def _user_heading(
        self, form: ExportFormat, export: Export, base: Path | None, *, back: bool
    ) -> str:
        """Return the first notes of a user's file."""
        own, about_file = export.file, list[str]()
        if own.missing is not None:
            command = self._command(form, back=back, base=form.file_name)
            about_file = [own.missing, _NAME_YOUR_FILE, f"  {command}"]
        elif own.remark is not None:
            about_file = [own.remark]
        if base is not None:
            lines = _named_file_notes(form, export, base, back=back)
        else:
            lines = [] if back else [f"To undo: {self._command(form, back=True, to_file=True)}"]
        return "\n".join([export.heading, *map(ascii_text, about_file), *lines])

    def _command(
        self, form: ExportFormat, *, back: bool, to_file: bool = False, base: str | None = None
    ) -> str:
        """Return the command that exports this trial; `base` is the file to change."""
        view = self._view
        picked = view.best_trial.number if view.picked and view.best_trial else None
        command = export_command(
            view.name, view.engine, form=form, trial=picked, back=back, to_file=to_file, base=base
        )
        return command + view.home_flag

    def _full_size(self, config: Config) -> Settings:
        return rescaled(self._spaces, config, Fraction(1))

    def _own_of_begun(self) -> Settings:
        """Return the user's values of options that the study's preset sets."""
        own = with_families(self._base.settings, self._spec.workload.column_families)
        return {name: own[name] for name in self._begun}

    def _base_run(self) -> StoredTrial:
        return self._history.complete_base[0]

    def _best_run(self) -> StoredTrial:
        best = self._view.best_trial
        return next(t for t in self._history.runs if best is not None and t.number == best.number)

    def _heading(self, *, back: bool) -> str:
        claim = self._claim
        picked = ", picked by you" if claim.view.picked else ""
        whose = (
            "values of the baseline, to undo the change"
            if back
            else f"options of trial {claim.trial}{picked}"
        )
        lines = [f"lsmtune, study {claim.view.name}: {whose}"]
        if not back:
            lines += [*export_notes(claim), *(f"{sentence_start(x)}." for x in self._base.notes)]
        if self._begun:
            preset = ", ".join(f"{name} = {value}" for name, value in self._begun.items())
            here = (
                "This file contains the values of your own baseline."
                if back
                else "This file also sets these options."
            )
            lines.append(f"The preset set these options in all trials: {preset}. {here}")
        return ascii_text("\n".join(lines))


def _named_file_notes(form: ExportFormat, export: Export, base: Path, *, back: bool) -> list[str]:
    """Return notes about a file of `--base`: what changes in it, and how to undo that.

    Raises UserError if `back` would not restore the file.
    """

    def differences(settings: Settings, names: Sequence[str]) -> Differences:
        return form.differences(export, {name: settings[name] for name in names})

    changed = [knob.name for knob in export.changed]
    to_new = differences(export.new, changed)
    if back:
        to_old = differences(export.old, changed)
        unknown = [key for key in to_old if to_old[key][0] is not None and key in to_new]
        if unknown:
            raise UserError(_not_restorable(base, unknown, to_old, to_new))
        return []
    lines = [f"Changed: {key} = {told} (before: {before or 'not in your file'})."
             for key, (before, told) in to_new.items()]  # fmt: skip
    others = differences(export.old, export.tuned)
    if other := {key: both for key, both in others.items() if both[0] is not None}:
        lines += [
            "Your file is not the baseline of the study. The baseline has these values:",
            *(f"  {key} = {told} (your file: {own})" for key, (own, told) in other.items()),
            "lsmtune measured the change against the baseline, not against your file. Options "
            "that the winner did not change keep the values of your file.",
        ]
    return [*lines, "To undo: deploy a copy of your own file. Keep one."]


def _not_restorable(
    base: Path, unknown: Sequence[str], to_old: Differences, to_new: Differences
) -> Message:
    """Return why `--back` cannot restore a file: its values are of neither side."""
    key = unknown[0]
    more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
    return Message(
        Argument("base", base),
        f": {key} = {to_old[key][0]}{more}; the study has {to_new[key][1]} for the baseline and "
        f"{to_old[key][1]} for the winner. ", Argument("back", True), " cannot restore this file: "
        "name the file that you deployed, or deploy the copy of your own file that you kept",
    )  # fmt: skip
