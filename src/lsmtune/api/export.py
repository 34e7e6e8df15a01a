"""Work of `lsmtune export`: the files to deploy and to undo."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from lsmtune.analysis.claim import Claim, claim_of
from lsmtune.analysis.deploy import FILES, export_command, formats
from lsmtune.analysis.study_view import StudyView
from lsmtune.api.own_files import (
    OwnFile,
    my_cnf_variables,
    named_file,
    own_my_cnf,
    own_options,
    own_tikv_toml,
)
from lsmtune.engines.tikv.settings import cluster_of
from lsmtune.errors import Argument, Message, ParseError, UserError
from lsmtune.knobs.families import with_families
from lsmtune.knobs.types import Config, Knob, Settings
from lsmtune.report import tikv_toml
from lsmtune.report.export import (
    LAST_NOTE,
    Differences,
    OptionsBase,
    ascii_text,
    deployment_lines,
    export_db_bench,
    export_options,
    export_toml,
)
from lsmtune.report.export import differences as options_differences
from lsmtune.report.export import differing as options_differing
from lsmtune.report.export_notes import export_notes
from lsmtune.report.my_cnf import differences as my_cnf_differences
from lsmtune.report.my_cnf import export_my_cnf
from lsmtune.report.text.words import sentence_start
from lsmtune.rescale import rescaled
from lsmtune.spaces import preset_start
from lsmtune.spec import without_load
from lsmtune.store.records import StoredTrial
from lsmtune.study.record import StudyRecord
from lsmtune.system.write import Written, write_beside_older

__all__ = ["Written"]

RESTART = "Restart the server: it reads this file only when it starts."


@dataclass(frozen=True, slots=True)
class Exported:
    """The text of an exported file, and the user's file that was changed to make it, if any.

    The exported file needs the permissions of the user's file, which may contain passwords.
    """

    text: str
    source: Path | None

    def write(self, path: Path) -> Written:
        """Write the file; an older file of this name is kept."""
        return write_beside_older(path, self.text, "options", self.source)


@dataclass(frozen=True, slots=True)
class Deployment:
    """File name and files of a deployment: the winner's options, and the baseline's to undo it."""

    name: str
    options: Exported
    back: Exported


def deployment(record: StudyRecord, view: StudyView, claim: Claim | None = None) -> Deployment:
    """Return the files to deploy and to undo: the user's file, or what the study keeps of it.

    `claim` is that of the view, if it is known.
    """
    form = formats(view.engine)[0]
    _check_trial(view)
    exporter = _Exporter(record, view, claim or claim_of(view))
    return Deployment(FILES[form], *(exporter.file(form, None, back=b) for b in (False, True)))


def exported(
    record: StudyRecord,
    view: StudyView,
    form: str,
    base: Path | None,
    *,
    back: bool,
    claim: Claim | None = None,
) -> Exported:
    """Return the exported file, with values for a full-size tree.

    Raises UserError if there is nothing to export, if the engine does not have this format, or
    if `back` cannot restore the user's own file.
    """
    _check_trial(view)
    claim = claim or claim_of(view)
    if not back:
        _check_claim(view, claim)
    if form not in (forms := formats(view.engine)):
        raise UserError(
            Argument("form", form, f"--format {form}"),
            f": not available for engine {view.engine}; available: {', '.join(forms)}",
        )
    if form in ("db_bench", "toml") and base is not None:
        raise UserError(
            Argument("base"),
            ": not allowed with ",
            Argument("form", form, f"--format {form}"),
            "; allowed: options, my.cnf, tikv-toml",
        )
    return _Exporter(record, view, claim).file(form, base, back=back)


def _check_trial(view: StudyView) -> None:
    if view.best_trial is None:
        raise UserError(
            f"study {view.name!r}: nothing to export; no trial beat the baseline within the limits"
        )


def _check_claim(view: StudyView, claim: Claim) -> None:
    """Raise UserError if pairs of runs did not prove a gain, unless the user picked the trial."""
    if claim.status in ("no gain", "loss") and not claim.picked:
        raise UserError(
            f"study {view.name!r}: nothing to export; {claim.pairs} pairs of runs did not prove a "
            f"gain of trial {claim.trial}. Keep the baseline. To export the trial all the same, "
            "add ",
            Argument("trial", claim.trial),
        )


class _Exporter:
    """Exports a trial of a study, or its baseline."""

    def __init__(self, record: StudyRecord, view: StudyView, claim: Claim) -> None:
        self._view = view
        self._claim = claim
        self._history = record.history
        self._spaces = record.known_spaces
        self._spec, self._ground = record.spec, record.ground
        self._base = self._ground.base
        self._begun = preset_start(self._spec, self._ground)

    def file(self, form: str, base: Path | None, *, back: bool) -> Exported:
        """Return the exported file."""
        config = self._base_run().config
        of_store = without_load(dict(config))
        tuned = (*of_store, *(name for name in self._begun if name not in of_store))
        old = {**self._full_size(config), **self._own_of_begun()}
        new = self._full_size(self._best_run().config)
        before, after = (new, old) if back else (old, new)
        is_baseline = base is None and self._base.given is not None
        change = _Change(form, base, tuned, before, after, back=back, is_baseline=is_baseline)
        if form == "db_bench":
            heading = self._heading(back=back)
            return Exported(
                export_db_bench(self._ground.catalogue, change.tuned_settings, heading), None
            )
        if form == "toml":
            return Exported(export_toml(change.tuned_settings, self._heading(back=back)), None)
        own = self._own_text(change)
        write = {"options": self._options, "my.cnf": self._my_cnf, "tikv-toml": self._tikv_toml}
        return Exported(write[form](change, own), own.path)

    def _own_text(self, change: "_Change") -> OwnFile:
        """Return the file of the store to change."""
        if change.base is not None:
            return named_file(change.base)
        if change.form == "options":
            return own_options(self._base)
        return (own_my_cnf if change.form == "my.cnf" else own_tikv_toml)(self._spec, self._base)

    def _options(self, change: "_Change", own: OwnFile) -> str:
        base = change.base
        if not own.text:
            raise UserError(
                Argument("form", "options", "--format options"),
                ": the simulator has no OPTIONS file; set ",
                Argument("base"),
                " to yours, or use ",
                Argument("form", "db_bench", "--format db_bench"),
            )
        file = OptionsBase(own.text, self._spec.family)
        knobs = [self._ground.catalogue.knob(name) for name in change.tuned]
        changed = change.knobs_between(knobs)
        try:
            of_file = self._own_file(
                change,
                others=options_differences(knobs, change.old, file),
                to_old=options_differences(changed, change.old, file),
                to_new=options_differences(changed, change.new, file),
            )
            deployed = file
            if base is None:
                deployed = OptionsBase(export_options(knobs, change.old, file, ""), file.family)
            else:
                differing = options_differing(changed, change.new, file)
                changed = [k for k in changed if k in differing or k.option is None]
            how = deployment_lines(changed, change.old, change.new, deployed)
            note = self._notes(change, own, [*of_file, *how])
            return export_options(knobs, change.written, file, note)
        except ParseError as error:
            raise UserError(Argument("base", base), ": ", error.message) from error

    def _my_cnf(self, change: "_Change", own: OwnFile) -> str:
        def variables(settings: Settings, names: Iterable[str]) -> dict[str, str]:
            tuned = {name: settings[name] for name in names}
            return my_cnf_variables(self._spec, self._ground, tuned, own.text)

        others, old, new = (
            variables(change.old, change.tuned),
            variables(change.old, change.written),
            variables(change.new, change.written),
        )
        lines = self._own_file(
            change,
            others=my_cnf_differences(own.text, others),
            to_old=my_cnf_differences(own.text, old),
            to_new=my_cnf_differences(own.text, new),
        )
        note = self._notes(change, own, [*lines, RESTART])
        return export_my_cnf(own.text, new, note)

    def _tikv_toml(self, change: "_Change", own: OwnFile) -> str:
        knobs = [self._ground.catalogue.knob(name) for name in change.tuned]
        changed = change.knobs_between(knobs)
        own_settings = self._base.settings
        to_new = tikv_toml.differences(changed, change.new, own_settings, own.text)
        lines = self._own_file(
            change,
            others=tikv_toml.differences(knobs, change.old, own_settings, own.text),
            to_old=tikv_toml.differences(changed, change.old, own_settings, own.text),
            to_new=to_new,
        )
        if change.base is not None:
            changed = [k for k in changed if k.name in to_new]
        status = cluster_of(self._spec).status
        how = tikv_toml.deployment_lines(changed, change.new, status)
        note = self._notes(change, own, [*lines, *how])
        written = [knob for knob in knobs if knob.name in change.written]
        catalogue = self._ground.catalogue.restricted(own_settings)
        settings = change.new if written else {}
        return tikv_toml.export_tikv_toml(
            written, catalogue, settings, own_settings, own.text, note=note
        )

    def _notes(self, change: "_Change", own: OwnFile, lines: Sequence[str]) -> str:
        """Return the comment at the top of the user's file."""
        about_file = []
        if own.missing is not None:
            command = self._command(change.form, back=change.back, base=FILES[change.form])
            about_file = [*_part_lines(change.form, own.missing), f"  {command}"]
        elif own.edited:
            about_file = [
                f"Your file {own.path} has other RocksDB options than the baseline of the study. "
                "This file has the options of the baseline, apart from the changes."
            ]
        notes = [self._heading(back=change.back), *map(ascii_text, about_file), *lines, LAST_NOTE]
        return "\n".join(notes)

    def _own_file(
        self, change: "_Change", *, others: Differences, to_old: Differences, to_new: Differences
    ) -> list[str]:
        """Return notes about a file of `--base`: what changes in it, and how to undo that.

        `to_old` and `to_new` are its differences from the changed options before and after;
        `others` are those from all tuned options before. Raises UserError if `--back` would not
        restore the file.
        """
        if change.base is None:
            return [] if change.back else [self._undo_line(change.form)]
        if change.back:
            unknown = [key for key in to_old if to_old[key][0] is not None and key in to_new]
            if unknown:
                raise UserError(_not_restorable(change.base, unknown, to_old, to_new))
            return []
        lines = [f"Changed: {key} = {told} (before: {before or 'not in your file'})."
                 for key, (before, told) in to_new.items()]  # fmt: skip
        if other := {key: both for key, both in others.items() if both[0] is not None}:
            lines += [
                "Your file is not the baseline of the study. The baseline has these values:",
                *(f"  {key} = {told} (your file: {own})" for key, (own, told) in other.items()),
                "lsmtune measured the change against the baseline, not against your file. Options "
                "that the winner did not change keep the values of your file.",
            ]
        return [*lines, "To undo: deploy a copy of your own file. Keep one."]

    def _undo_line(self, form: str) -> str:
        return f"To undo: {self._command(form, back=True, to_file=True)}"

    def _command(
        self, form: str, *, back: bool, to_file: bool = False, base: str | None = None
    ) -> str:
        """Return the command that exports this trial; `base` is the file to change."""
        view = self._view
        picked = view.best_trial.number if view.picked and view.best_trial else None
        command = export_command(
            view.name, view.engine, form=form, trial=picked, back=back, to_file=to_file
        )
        return command + (f" --base {base}" if base else "") + view.home_flag

    def _full_size(self, config: Config) -> Settings:
        return rescaled(self._spaces, config, Fraction(1)).settings

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
        picked = ", picked by you" if claim.picked else ""
        whose = (
            "values of the baseline, to undo the change"
            if back
            else f"options of trial {claim.trial}{picked}"
        )
        lines = [f"lsmtune, study {claim.study}: {whose}"]
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


@dataclass(frozen=True, slots=True)
class _Change:
    """What an export changes: the tuned options, their settings before and after it.

    `is_baseline`: the file to change is the user's file that the study started from.
    """

    form: str
    base: Path | None
    tuned: tuple[str, ...]
    old: Settings
    new: Settings
    back: bool
    is_baseline: bool

    def knobs_between(self, knobs: Sequence[Knob]) -> list[Knob]:
        """Return the knobs whose settings change."""
        return [knob for knob in knobs if self.new[knob.name] != self.old[knob.name]]

    @property
    def written(self) -> Settings:
        """The settings to write: those that change; none to undo in the baseline's own file."""
        if self.back and self.is_baseline:
            return {}
        return {name: self.new[name] for name in self.tuned if self.new[name] != self.old[name]}

    @property
    def tuned_settings(self) -> Settings:
        """The tuned options with their new values."""
        return {name: self.new[name] for name in self.tuned}


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


def _part_lines(form: str, why: str) -> list[str]:
    """Return a warning: the file has only the part of the user's file that the study keeps."""
    part, server = {
        "my.cnf": ("the rocksdb_ variables", "the server"),
        "tikv-toml": ("[rocksdb] and [storage]", "TiKV"),
    }[form]
    return [
        f"Do not start {server} with this file: the file has only {part} ({why}).",
        "To write the changes into your own file, name your file with --base:",
    ]
