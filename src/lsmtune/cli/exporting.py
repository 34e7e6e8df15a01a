"""Work of `lsmtune export`: the files to deploy and to undo."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from lsmtune.analysis.claim import claim_of
from lsmtune.analysis.deploy import FILES, FORMATS
from lsmtune.analysis.study_view import StudyView
from lsmtune.engines.myrocks.options import server_variables, variables_of
from lsmtune.engines.tikv.options import with_store
from lsmtune.errors import LsmtuneError, ParseError, UserError
from lsmtune.knobs.families import with_families
from lsmtune.knobs.types import Config, Settings
from lsmtune.report import tikv_toml
from lsmtune.report.claim_text import export_notes
from lsmtune.report.export import (
    OptionsBase,
    ascii_text,
    deployment_lines,
    export_db_bench,
    export_options,
    export_toml,
)
from lsmtune.report.my_cnf import export_my_cnf
from lsmtune.spec import Ground, StudySpec, catalogue_of, without_load
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.system.host import describe_host
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
    _check_winner(view)
    exporter = _Exporter(home, view)
    texts = (exporter.text(form, None, back=back, to_keep=True) for back in (False, True))
    return Deployment(FILES[form], *texts)


def exported(home: Home, view: StudyView, form: str, base: Path | None, *, back: bool) -> str:
    """Return the text of the exported file, with values for a full-size tree.

    Raises UserError if the study has no winner or the engine does not have this format.
    """
    _check_winner(view)
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


def _check_winner(view: StudyView) -> None:
    if view.best_trial is None:
        raise UserError(
            f"study {view.name!r}: nothing to export; no trial beat the baseline within the "
            "constraints"
        )


class _Exporter:
    """Exports the winner of a study."""

    def __init__(self, home: Home, view: StudyView) -> None:
        self._view = view
        self._trials = home.trials(home.study(view.name))
        self._spec, self._ground = ground_of(home, view.name)
        self._base = self._ground.base
        self._begun = self._spec.begun(self._ground)

    def text(self, form: str, base: Path | None, *, back: bool, to_keep: bool = False) -> str:
        """Return the exported file; with `to_keep` without secrets of the user's own file."""
        config = self._base_run().config
        of_store = without_load(dict(config))
        tuned = (*of_store, *(name for name in self._begun if name not in of_store))
        old = {**self._full_size(config), **self._own_of_begun()}
        new = self._full_size(self._best_run().config)
        settings, other = (old, new) if back else (new, old)
        if form == "db_bench":
            flags = {name: settings[name] for name in tuned}
            return export_db_bench(self._ground.catalogue, flags, self._heading(back=back))
        if form == "toml":
            return export_toml({name: settings[name] for name in tuned}, self._heading(back=back))
        if form == "tikv-toml":
            text, whole = self._tikv_file(base, to_keep=to_keep)
            return self._tikv_toml(tuned, settings, other, text, whole=whole, back=back)
        if form == "my.cnf":
            return self._my_cnf({name: settings[name] for name in tuned}, base, back=back)
        text = (self._base.given or self._base.options) if base is None else _read(base)
        if not text:
            raise UserError(
                "--format options: the simulator has no OPTIONS file; set --base to yours, or use "
                "--format db_bench"
            )
        file = OptionsBase(text, self._spec.family)
        knobs = [self._ground.catalogue.knob(name) for name in tuned]
        try:
            deployed = OptionsBase(export_options(knobs, other, file, ""), file.family)
            changed = [knob for knob in knobs if settings[knob.name] != other[knob.name]]
            how = deployment_lines(changed, settings, deployed)
            note = "\n".join([self._heading(back=back), *how])
            return export_options(knobs, settings, file, note)
        except ParseError as error:
            raise UserError(f"--base {base}: {error}") from error

    def _my_cnf(self, tuned: Settings, base: Path | None, *, back: bool) -> str:
        text = (self._base.given or "") if base is None else _read(base)
        note = f"{self._heading(back=back)}\n{_RESTART}"
        return _my_cnf(self._spec, self._ground, tuned, text, note)

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

    def _tikv_toml(
        self, tuned: Sequence[str], settings: Settings, other: Settings, text: str, *, whole: bool,
        back: bool,
    ) -> str:  # fmt: skip
        knobs = [self._ground.catalogue.knob(name) for name in tuned]
        changed = [knob for knob in knobs if settings[knob.name] != other[knob.name]]
        status = (self._spec.tikv or Cluster()).status
        note = [
            self._heading(back=back),
            *tikv_toml.scope_lines(self._view.name, whole=whole, back=back),
            *tikv_toml.deployment_lines(changed, settings, status),
        ]
        return tikv_toml.export_tikv_toml(
            knobs, settings, self._base.settings, text, "\n".join(note)
        )

    def _full_size(self, config: Config) -> Settings:
        return self._spec.settings_at(self._ground, config, Fraction(1))

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
        whose = "baseline, to undo" if back else f"options of trial {claim.trial}{picked}"
        lines = [f"lsmtune, study {claim.study}: {whose}"]
        lines += [] if back else export_notes(claim)
        if self._begun:
            preset = ", ".join(f"{name} = {value}" for name, value in self._begun.items())
            here = (
                "This file contains the values of your own baseline."
                if back
                else "This file also sets the options of the preset."
            )
            lines.append(f"The preset set these options in all trials: {preset}. {here}")
        return ascii_text("\n".join(lines))


def ground_of(home: Home, name: str) -> tuple[StudySpec, Ground]:
    """Return the settings and the context of a stored study."""
    stored = home.study(name)
    if stored.base is None:
        raise LsmtuneError(
            f"study {name!r}: an older lsmtune made it and did not store its baseline. Run its "
            "`lsmtune tune` again"
        )
    spec = StudySpec.model_validate(stored.spec)
    catalogue = catalogue_of(spec.engine, spec.workload)
    return spec, Ground(catalogue, stored.base, describe_host().max_open_files)


def online_file(home: Home, name: str, kept: Config) -> str:
    """Return the my.cnf with the changes that online tuning kept, for a full-size tree."""
    spec, ground = ground_of(home, name)
    full_size = spec.settings_at(ground, kept, Fraction(1))
    tuned = {knob: full_size[knob] for knob in kept}
    note = f"lsmtune, study {name}: the changes that online tuning kept\n{_RESTART}"
    if spec.scale != "1":
        note += f"\nUNVERIFIED at scale 1: found at scale {spec.scale}."
    return _my_cnf(spec, ground, tuned, ground.base.given or "", note)


def _my_cnf(spec: StudySpec, ground: Ground, tuned: Settings, text: str, note: str) -> str:
    """Return a my.cnf with the tuned settings."""
    given = {name: value for _, name, value in server_variables(text)}
    base = ground.base
    want = with_families(base.settings, spec.workload.column_families) | tuned
    variables = variables_of(ground.catalogue, base.options, base.settings, given, want)
    return export_my_cnf(text, variables, note)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"--base {path}: cannot be read ({error})") from error
