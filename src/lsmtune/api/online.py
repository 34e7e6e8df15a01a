"""Change the options of a running engine, one at a time."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lsmtune.api.resolve import Resolved
from lsmtune.api.results import ResultFiles, write_results
from lsmtune.api.study_result import Result, result_of
from lsmtune.engines.base import LiveEngine
from lsmtune.errors import LsmtuneError
from lsmtune.knobs.types import Config
from lsmtune.progress import Observer
from lsmtune.report.text.baseline_text import baseline_lines, online_lines
from lsmtune.report.text.metric_words import Ratio
from lsmtune.report.text.words import counted, option_value
from lsmtune.store.home import Home
from lsmtune.study.host_checks import check_space, remark_busy
from lsmtune.study.online import Step, tune_online
from lsmtune.study.opening import open_session, prepare
from lsmtune.tables import Online


@dataclass(frozen=True, slots=True)
class TunedOnline:
    """The result of online tuning: the changes that were tried, and the config that was kept.

    `problem` ended the call early, if anything did; then the result has the changes before it.
    """

    result: Result
    files: ResultFiles
    steps: tuple[Step, ...]
    base: Config
    kept: Config
    problem: LsmtuneError | None = None

    def document(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "study": self.result.study,
            "kept": self.kept.differing(self.base),
            "steps": [
                {
                    "number": step.number,
                    "config": step.config.differing(self.base),
                    "judgement": step.judgement,
                    "reason": step.reason,
                    "cost": step.cost and asdict(step.cost),
                    "base": step.base,
                }
                for step in self.steps
            ],
            "options": str(self.files.deploy),
        }


def run_online(
    resolved: Resolved, home_path: Path, observer: Observer | None = None, *, verbose: bool = False
) -> TunedOnline:
    """Tune a running engine; write the page and the files of the result into the home.

    LsmtuneError if it ends before the first change.
    """
    observer = observer or Observer()
    prepared = prepare(resolved.settings, home_path, observer)
    spec, engine, ground = prepared.spec, prepared.engine, prepared.ground
    table = spec.online or Online()
    if not isinstance(engine, LiveEngine):
        raise TypeError(f"the engine {spec.engine} cannot be tuned while it runs")
    for remark in (*baseline_lines(ground.base, verbose=verbose), *online_lines(prepared.spaces)):
        observer.remark(f"baseline: {remark}")
    steps: list[Step] = []
    problem: LsmtuneError | None = None
    with Home(home_path, create=True) as home:
        check_space(spec, home)
        with open_session(home, prepared, observer) as study:
            remark_busy(spec, observer)
            if done := len(study.trials()):
                observer.remark(
                    f"study {spec.name!r}: earlier calls tried {counted(done, 'change')}; this "
                    "call starts again from the baseline"
                )

            def on_step(step: Step) -> None:
                steps.append(step)
                metric = study.objective.metrics[0]
                observer.remark(_step_line(step, spec.number_of_trials, metric))

            base = kept = study.space.default()
            try:
                kept = tune_online(study, engine, table, on_step)
            except KeyboardInterrupt:
                problem = LsmtuneError(
                    f"interrupted after {counted(len(steps), 'change')}; the same command starts "
                    "again from the baseline"
                )
            except LsmtuneError as error:
                problem = error
        if problem is not None and not steps:
            raise problem
        result = result_of(home, study.record)
        files = write_results(home, result, observer)
    return TunedOnline(result, files, tuple(steps), base, kept, problem)


def _step_line(step: Step, trials: int, metric: str) -> str:
    changes = step.config.differing(step.previous)
    changed = ", ".join(f"{k} = {option_value(v)}" for k, v in changes.items())
    line = f"change {step.number} of {trials} ({changed}): {step.judgement.meaning}: {step.reason}"
    if step.cost is None:
        return line
    ratio = Ratio.of(step.cost).gain(metric)  # turned back: with / without the change
    return f"{line}; with / without the change: {ratio}"
