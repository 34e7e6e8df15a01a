"""The work behind `lsmtune export`."""

from pathlib import Path

from lsmtune.analysis.study_view import StudyView, TrialView
from lsmtune.errors import LsmtuneError, ParseError, UserError
from lsmtune.knobs.catalogue import load
from lsmtune.report.export import export_db_bench, export_options
from lsmtune.store.home import Home
from lsmtune.store.records import StoredTrial, complete_trials
from lsmtune.trials import Role


def options_file(home: Home, view: StudyView) -> str:
    """The winner's OPTIONS file, made from the one that the base ran with."""
    return exported(home, view, "options", None, back=False)


def exported(home: Home, view: StudyView, form: str, base: Path | None, *, back: bool) -> str:
    """The text of the exported file; UserError where the study has no winner, or not this form."""
    if view.best_trial is None:
        raise UserError(
            f"study {view.name!r}: no trial beat the base within the limits, nothing to export"
        )
    if form not in ("options", "db_bench"):
        raise UserError(
            f"--format {form}: not a form of the engine rocksdb; allowed: options, db_bench"
        )
    if form == "db_bench" and base is not None:
        raise UserError("--base goes with --format options only")
    base_run, best_run = _runs(home, view, view.best_trial)
    source, note = (base_run, "the base, to go back") if back else (best_run, _claim(view))
    heading = _heading(view, note)
    if form == "db_bench":
        return export_db_bench(source.config, heading)
    text = _base_text(home, base_run, base)
    try:
        return export_options(
            load(view.engine), list(source.config), source.spec.settings, text, heading
        )
    except ParseError as error:
        raise UserError(f"--base {base}: {error}") from error


def _runs(home: Home, view: StudyView, best: TrialView) -> tuple[StoredTrial, StoredTrial]:
    trials = home.trials(home.study(view.name))
    return complete_trials(trials, Role.BASE)[0], next(t for t in trials if t.number == best.number)


def _base_text(home: Home, base_run: StoredTrial, base: Path | None) -> str:
    if base is not None:
        try:
            return base.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(f"--base {base}: cannot be read: {error}") from error
    text = home.read_evidence(base_run, "OPTIONS")
    if text is None:
        raise LsmtuneError(f"the evidence of trial {base_run.number} has lost its OPTIONS file")
    return text


def _heading(view: StudyView, note: str) -> str:
    lines = [f"lsmtune, study {view.name}: {note}"]
    if view.scale != "1":
        proof = "UNVERIFIED" if view.unverified_at_full_scale else "verified"
        lines.append(
            f"Found with the tree at scale {view.scale}, whose sizes this file has: {proof} at "
            "scale 1."
        )
    return "\n".join(lines)


def _claim(view: StudyView) -> str:
    if view.verification is None:
        return "the best trial, not verified"
    verdict = view.verification.verdict
    ratio = verdict.objective
    return (
        f"{verdict.claim} in {verdict.pairs} pairs of runs, {view.objective.name} "
        f"{ratio.median:.3f} of the base ({ratio.low:.3f} to {ratio.high:.3f})"
    )
