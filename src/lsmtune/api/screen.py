"""Measure configs that cover the range of every knob, to see which knobs matter."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from lsmtune.analysis.measurable import disturbed_text, flushes_text, too_few_flushes
from lsmtune.analysis.screened import screened_lines
from lsmtune.api.on_hosts import OnHosts, opened_hosts, session_on
from lsmtune.engine_traits import ENGINES
from lsmtune.errors import Argument, LsmtuneError, UserError
from lsmtune.progress import Observer
from lsmtune.spec import StudySettings
from lsmtune.store.home import Home
from lsmtune.study.opening import prepare
from lsmtune.study.screen import screen as run_configs
from lsmtune.system.host import describe_host
from lsmtune.system.write import write_file

_CPUS_A_RUN = 2


@dataclass(frozen=True, slots=True)
class ScreenResult:
    """The runs of a screening, and the file of JSON lines that has them.

    `runs`, `failed` and `disturbed_runs` are numbers of runs. `few_flushes` runs flushed too seldom
    for an exact write amplification. `warnings` are sentences about the runs.
    """

    study: str
    runs: int
    failed: int
    few_flushes: int
    disturbed_runs: int
    output: Path

    @property
    def warnings(self) -> list[str]:
        """What to keep in mind about the runs."""
        found = []
        if self.few_flushes:
            found.append(flushes_text(self.few_flushes, self.runs))
        if self.disturbed_runs:
            found.append(disturbed_text(self.disturbed_runs))
        return found

    def document(self) -> dict[str, Any]:
        """Return the screening as `lsmtune screen --json` prints it."""
        return {**asdict(self), "output": str(self.output)}


def screen(
    spec: StudySettings,
    home_path: Path,
    observer: Observer | None = None,
    *,
    output: Path | None = None,
    jobs: int | None = None,
    accept_noise: bool = False,
    hosts: OnHosts | None = None,
) -> ScreenResult:
    """Measure the configs that are missing, and write all runs as JSON lines.

    `output` is a file in the home if it is not given. `jobs` runs go on at the same time, by
    default half as many as there are CPUs, but one at a time if more would change the results.
    With `hosts`, each of them runs one config at a time, so `jobs` is a UserError.
    """
    observer = observer or Observer()
    if spec.screen is None:
        raise LsmtuneError(
            "screen: the study file has no table [screen]; add [screen] to the study file"
        )
    _check_jobs(spec, jobs, hosts)
    table = spec.screen
    prepared = prepare(spec, home_path, observer)
    spec = prepared.spec
    with (
        opened_hosts(hosts, prepared.engine, observer) as used,
        Home(home_path, create=True) as home,
    ):
        with session_on(used, home, prepared, observer, accept_noise=accept_noise) as study:
            is_single = used is not None or ENGINES[spec.engine].one_at_a_time
            most = 1 if is_single else describe_host().logical_cpus // _CPUS_A_RUN
            remark = run_configs(study, table, jobs or max(1, most))
        if remark is not None:
            observer.remark(f"lsmtune ran one config at a time: {remark}")
        lines = screened_lines(home, spec.name)
        path = output or home.path / "results" / spec.name / "runs.jsonl"
        text = "".join(f"{line.to_json()}\n" for line in lines)
        write_file(path, text, "runs", home.path)
    return ScreenResult(
        study=spec.name,
        output=path,
        runs=len(lines),
        failed=sum(line.error is not None for line in lines),
        few_flushes=too_few_flushes(line.metrics for line in lines),
        disturbed_runs=sum(line.disturbance is not None for line in lines),
    )


def _check_jobs(spec: StudySettings, jobs: int | None, hosts: OnHosts | None) -> None:
    """Raise UserError for a number of runs at the same time that is not possible."""
    if jobs is not None and jobs < 1:
        raise UserError(Argument("jobs", jobs), ": must be at least 1")
    if ENGINES[spec.engine].one_at_a_time and jobs not in (None, 1):
        raise UserError(
            Argument("jobs"),
            f": invalid value {jobs}; the engine {spec.engine} runs one workload at a time, so "
            "only 1 is allowed",
        )
    if hosts is not None and jobs is not None:
        raise UserError(
            Argument("jobs", jobs),
            ": not allowed with ",
            Argument("hosts"),
            ", because each host runs one config at a time",
        )
