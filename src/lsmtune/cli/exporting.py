"""Work of `lsmtune export`: the files to deploy and to undo."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.deploy import FILES, FORMATS, export_command
from lsmtune.analysis.ground import stored_ground
from lsmtune.analysis.study_view import StudyView
from lsmtune.engines.myrocks.options import server_variables, variables_of, with_file
from lsmtune.engines.tikv.options import with_store
from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.families import with_families
from lsmtune.knobs.types import Config, Knob, Settings
from lsmtune.reading import read_text
from lsmtune.report import tikv_toml
from lsmtune.report.claim_text import export_notes
from lsmtune.report.export import (
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
from lsmtune.report.my_cnf import differences as my_cnf_differences
from lsmtune.report.my_cnf import export_my_cnf
from lsmtune.rescale import rescaled
from lsmtune.spec import Ground, StudySpec, without_load
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.system.stand_in import StandIn
from lsmtune.tables import Cluster
from lsmtune.trials import Role

_RESTART = "Restart the server: it reads this file only when it starts."


@dataclass(frozen=True, slots=True)
class Deployment:
    """File name and texts of a deployment: the winner's options, and the baseline's to undo it."""

    name: str
    options: str
    back: str


def deployment(home: Home, view: StudyView) -> Deployment:
    """Return the files to deploy and to undo, made from the baseline file that the study keeps."""
    form = FORMATS[view.engine][0]
    _check_trial(view)
    exporter = _Exporter(home, view)
    texts = (exporter.text(form, None, back=back, to_keep=True) for back in (False, True))
    return Deployment(FILES[form], *texts)


def exported(home: Home, view: StudyView, form: str, base: Path | None, *, back: bool) -> str:
    """Return the text of the exported file, with values for a full-size tree.

    Raises UserError if there is nothing to export, if the engine does not have this format, or
    if `back` cannot restore the user's own file.
    """
    _check_trial(view)
    if not back:
        _check_claim(view)
    if form not in (forms := FORMATS[view.engine]):
        raise UserError(
            f"--format {form}: not available for engine {view.engine}; "
            f"available: {', '.join(forms)}"
        )
    if form in ("db_bench", "toml") and base is not None:
        raise UserError(
            f"--base: not allowed with --format {form}; allowed: options, my.cnf, tikv-toml"
        )
    return _Exporter(home, view).text(form, base, back=back)


def _check_trial(view: StudyView) -> None:
    if view.best_trial is None:
        raise UserError(
            f"study {view.name!r}: nothing to export; no trial beat the baseline within the "
            "constraints"
        )


def _check_claim(view: StudyView) -> None:
    """Raise UserError if pairs of runs did not prove a gain, unless the user picked the trial."""
    claim = claim_of(view)
    if claim.status in ("no gain", "loss") and not claim.picked:
        raise UserError(
            f"study {view.name!r}: nothing to export; {claim.pairs} pairs of runs did not prove a "
            f"gain of trial {claim.trial}. Keep the baseline. To export the trial all the same, "
            f"add --trial {claim.trial}"
        )


class _Exporter:
    """Exports a trial of a study, or its baseline."""

    def __init__(self, home: Home, view: StudyView) -> None:
        self._view = view
        self._trials = home.trials(home.study(view.name))
        self._spec, self._ground = stored_ground(home, view.name)
        self._base = self._ground.base
        self._begun = self._spec.begun(self._ground)

    def text(self, form: str, base: Path | None, *, back: bool, to_keep: bool = False) -> str:
        """Return the exported file; with `to_keep` without secrets of the user's own file."""
        config = self._base_run().config
        of_store = without_load(dict(config))
        tuned = (*of_store, *(name for name in self._begun if name not in of_store))
        old = {**self._full_size(config), **self._own_of_begun()}
        new = self._full_size(self._best_run().config)
        change = _Change(form, base, tuned, *((new, old) if back else (old, new)), back=back)
        if form == "db_bench":
            return export_db_bench(
                self._ground.catalogue, change.tuned_settings, self._heading(back=back)
            )
        if form == "toml":
            return export_toml(change.tuned_settings, self._heading(back=back))
        if form == "tikv-toml":
            return self._tikv_toml(change, to_keep=to_keep)
        if form == "my.cnf":
            return self._my_cnf(change)
        return self._options(change)

    def _options(self, change: "_Change") -> str:
        base = change.base
        text = (self._base.given or self._base.options) if base is None else _read(base)
        if not text:
            raise UserError(
                "--format options: the simulator has no OPTIONS file; set --base to yours, or use "
                "--format db_bench"
            )
        file = OptionsBase(text, self._spec.family)
        knobs = [self._ground.catalogue.knob(name) for name in change.tuned]
        try:
            to_old, to_new = (options_differences(knobs, s, file) for s in change.both)
            own = self._own_file(change, to_old, to_new)
            changed, deployed = change.knobs_between(knobs), file
            if base is None:
                deployed = OptionsBase(export_options(knobs, change.old, file, ""), file.family)
            else:
                of_file = options_differing(knobs, change.new, file)
                changed = [k for k in knobs if k in (of_file if k.option else changed)]
            how = deployment_lines(changed, change.new, deployed)
            note = "\n".join([self._heading(back=change.back), *own, *how])
            return export_options(knobs, change.new, file, note)
        except ParseError as error:
            raise UserError(f"--base {base}: {error}") from error

    def _my_cnf(self, change: "_Change") -> str:
        base = change.base
        text = (self._base.given or "") if base is None else _read(base)
        variables = [
            _variables(self._spec, self._ground, {name: of[name] for name in change.tuned}, text)
            for of in change.both
        ]
        to_old, to_new = (my_cnf_differences(text, of) for of in variables)
        own = self._own_file(change, to_old, to_new)
        note = "\n".join([self._heading(back=change.back), *own, _RESTART])
        return export_my_cnf(text, variables[1], note)

    def _tikv_file(self, base: Path | None, *, to_keep: bool) -> tuple[str, bool]:
        """Return the tikv.toml to edit, and whether it is complete.

        TiKV's own file may contain secrets. A study keeps only the tables of the store.
        """
        kept, cluster = self._base.given or "", self._spec.tikv or Cluster()
        if base is not None:
            return _read(base), True
        if to_keep or cluster.config_path is None:
            return kept, False
        try:
            text = StandIn(cluster.config_path).own_text()
        except UserError:
            return kept, False
        return (text if self._spec.base is None else with_store(text, kept)), True

    def _tikv_toml(self, change: "_Change", *, to_keep: bool) -> str:
        text, whole = self._tikv_file(change.base, to_keep=to_keep)
        knobs = [self._ground.catalogue.knob(name) for name in change.tuned]
        own_settings = self._base.settings
        to_old, to_new = (
            tikv_toml.differences(knobs, of, own_settings, text) for of in change.both
        )
        own = self._own_file(change, to_old, to_new)
        if change.base is None:
            changed = change.knobs_between(knobs)
        else:
            changed = [k for k in knobs if k.name in to_new]
        status = (self._spec.tikv or Cluster()).status
        note = [
            self._heading(back=change.back),
            *own,
            *tikv_toml.scope_lines(self._view.name, whole=whole, back=change.back),
            *tikv_toml.deployment_lines(changed, change.new, status),
        ]
        catalogue = self._ground.catalogue.restricted(own_settings)
        return tikv_toml.export_tikv_toml(
            knobs, catalogue, change.new, own_settings, text, note="\n".join(note)
        )

    def _own_file(self, change: "_Change", to_old: Differences, to_new: Differences) -> list[str]:
        """Return notes about a file of `--base`: what changes in it, and how to undo that.

        `to_old` and `to_new` are its differences from the settings before and after. Raises
        UserError if `--back` would not restore the file.
        """
        if change.base is None:
            return [] if change.back else [self._undo_line(change.form)]
        other = [key for key in to_old if to_old[key][0] is not None]
        if change.back:
            unknown = [key for key in other if key in to_new]
            if unknown:
                raise UserError(_not_restorable(change.base, unknown, to_old, to_new))
            return []
        lines = [f"Changed: {key} = {told} (before: {before or 'not in your file'})."
                 for key, (before, told) in to_new.items()]  # fmt: skip
        if other:
            lines += [
                "Your file is not the baseline of the study. The baseline has these values:",
                *(f"  {key} = {to_old[key][1]} (your file: {to_old[key][0]})" for key in other),
                "lsmtune measured the change against the baseline, not against your file.",
            ]
        return [*lines, "To undo: deploy a copy of your own file. Keep one."]

    def _undo_line(self, form: str) -> str:
        view = self._view
        picked = view.best_trial.number if view.picked and view.best_trial else None
        command = export_command(view.name, view.engine, form=form, trial=picked, back=True)
        return f"To undo: {command}"

    def _full_size(self, config: Config) -> Settings:
        return rescaled(self._spec, self._ground, config, Fraction(1)).settings

    def _own_of_begun(self) -> Settings:
        """Return the user's values of options that the study's preset sets."""
        own = with_families(self._base.settings, self._spec.workload.column_families)
        return {name: own[name] for name in self._begun}

    def _base_run(self) -> StoredTrial:
        return complete_trials(self._trials, Role.BASE)[0]

    def _best_run(self) -> StoredTrial:
        best = self._view.best_trial
        return next(t for t in self._trials if best is not None and t.number == best.number)

    def _heading(self, *, back: bool) -> str:
        claim = claim_of(self._view)
        picked = ", picked by you" if claim.picked else ""
        whose = (
            "values of the baseline, to undo the change"
            if back
            else f"options of trial {claim.trial}{picked}"
        )
        lines = [f"lsmtune, study {claim.study}: {whose}"]
        lines += [] if back else export_notes(claim)
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
    """What an export changes: the tuned options, their settings before and after it."""

    form: str
    base: Path | None
    tuned: tuple[str, ...]
    old: Settings
    new: Settings
    back: bool

    @property
    def both(self) -> tuple[Settings, Settings]:
        """The settings before and after."""
        return self.old, self.new

    def knobs_between(self, knobs: Sequence[Knob]) -> list[Knob]:
        """Return the knobs whose settings change."""
        return [knob for knob in knobs if self.new[knob.name] != self.old[knob.name]]

    @property
    def tuned_settings(self) -> Settings:
        """The tuned options with their new values."""
        return {name: self.new[name] for name in self.tuned}


def _not_restorable(
    base: Path, unknown: Sequence[str], to_old: Differences, to_new: Differences
) -> str:
    """Return why `--back` cannot restore a file: its values are of neither side."""
    key = unknown[0]
    more = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
    return (
        f"--base {base}: {key} = {to_old[key][0]}{more}; the study has {to_new[key][1]} for the "
        f"baseline and {to_old[key][1]} for the winner. --back cannot restore your file: deploy "
        "the copy that you kept"
    )


def online_file(home: Home, name: str, kept: Config) -> str:
    """Return the my.cnf with the changes that online tuning kept, for a full-size tree."""
    spec, ground = stored_ground(home, name)
    full_size = rescaled(spec, ground, kept, Fraction(1)).settings
    tuned = {knob: full_size[knob] for knob in kept}
    note = f"lsmtune, study {name}: the changes that online tuning kept\n{_RESTART}"
    if spec.scale != "1":
        note += f"\nUNVERIFIED at scale 1: found at scale {spec.scale}."
    text = ground.base.given or ""
    return export_my_cnf(text, _variables(spec, ground, tuned, text), note)


def _variables(spec: StudySpec, ground: Ground, tuned: Settings, text: str) -> dict[str, str]:
    """Return the variables that a my.cnf with the tuned settings has."""
    base = ground.base
    given = {name: value for _, name, value in server_variables(text)}
    before = {name: value for _, name, value in server_variables(base.given or "")}
    own = with_families(base.settings, spec.workload.column_families)
    options, settings = with_file(ground.catalogue, base.options, own, before, given)
    return variables_of(ground.catalogue, options, settings, given, {**settings, **tuned})


def _read(path: Path) -> str:
    return read_text(path, f"--base {path}")
