"""The functions of `import lsmtune`.

Sizes, scales and times are texts as on the command line, such as "512MiB", "1/64" and "20m". No
function prints, asks a question, handles a signal or ends the process. Mistakes raise `UserError`,
other failures `LsmtuneError`; the message is one sentence. A study runs and waits in the thread
that calls; this may be any thread.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lsmtune.analysis.deploy import usual_home
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.api import importance as ranking
from lsmtune.api import inspect as inspecting
from lsmtune.api import manage, online
from lsmtune.api import screen as screening
from lsmtune.api import simulate as simulation
from lsmtune.api import sweep as experiments
from lsmtune.api import tune as tuning
from lsmtune.api import verify as verification
from lsmtune.api.arguments import (
    EVENT,
    HOSTS,
    NUMBER,
    OBSERVER,
    PATH,
    SWITCH,
    TEXT,
    TEXTS,
    WAIT,
    check,
)
from lsmtune.api.importance import ImportanceResult
from lsmtune.api.on_hosts import OnHosts, Where, check_offline, on_hosts
from lsmtune.api.rehearse import StoreRehearsed
from lsmtune.api.rehearse import rehearse as rehearse_store
from lsmtune.api.resolve import Request, Resolved, resolve
from lsmtune.api.resolve_experiment import resolve_screening, resolve_sweep
from lsmtune.api.screen import ScreenResult
from lsmtune.api.simulate import Simulation
from lsmtune.api.study_result import Result, stored_result
from lsmtune.api.sweep import SweepResult
from lsmtune.engines.entry import EngineEntry
from lsmtune.engines.registry import add_engine
from lsmtune.errors import UserError, unknown_word
from lsmtune.progress import Observer
from lsmtune.spec import MIN_PAIRS, all_keys
from lsmtune.study_keys import STUDY_KEYS
from lsmtune.system.cancelling import cancelled_by
from lsmtune.system.lock import waiting_for_studies
from lsmtune.tables import Screen

Folder = str | Path


def tune(
    study_file: Folder | None = None,
    *,
    home: Folder | None = None,
    observer: Observer | None = None,
    cancel: threading.Event | None = None,
    accept_noise: bool = False,
    new_baseline: bool = False,
    wait: bool | float = False,
    hosts: Where | None = None,
    certificates: Folder | None = None,
    insecure: bool = False,
    **keys: Any,
) -> Result:
    """Find better options for a workload, verify the winner, and write its files into the home.

    `keys` are the keys of a study file, for instance `rocksdb="11.8.1"`, `base="OPTIONS"`,
    `workload={"name": "mix", "num": 200_000}` or `trials=24`; they replace those of `study_file`.
    `engine` may also be an engine that `function_engine` made.
    The same keys make the same study as `lsmtune tune`: same name, same trials. `study` names a
    stored study to continue. `observer` sees the progress. `cancel` ends the call when it is set:
    the run ends, its folder is removed, `Cancelled` is raised, and the same call continues the
    study. With `accept_noise`, runs that other programs disturb are marked and not repeated. With
    `new_baseline`, a new study measures the baseline again, as after a change of the machine.
    `wait` says what happens while another call works on the same study: False raises `UserError`,
    a number waits for so many seconds before that, True waits for as long as the call takes.
    Without `home`, studies are in $LSMTUNE_HOME, else in the folder lsmtune-data.
    `hosts` is where runs go: the address of a scheduler such as "tls://10.0.0.1:8786" with a folder
    of `certificates`, a `distributed.Client`, or a number of processes on this machine for engines
    whose times do not matter. `insecure` allows plain tcp in a private network. None of the three
    belongs to the settings of the study.
    """
    check(PATH, study_file=study_file, home=home)
    used = _on_hosts(hosts, certificates, insecure)
    _check_running(observer, cancel, accept_noise, wait)
    check(SWITCH, new_baseline=new_baseline)
    request = _request("lsmtune.tune", study_file, keys, new_baseline=new_baseline)
    folder = _home(home)
    with _called(observer, cancel, wait):
        resolved = _remarked(resolve(request, folder, observer=observer), observer)
        if resolved.settings.online is not None:
            if used is not None:
                check_offline(used)
            changed = online.run_online(resolved, folder, observer)
            if changed.problem is not None:
                raise changed.problem
            return changed.result
        done = tuning.tune(resolved, folder, observer, accept_noise=accept_noise, hosts=used)
        return done.result


def screen(
    study_file: Folder | None = None,
    *,
    home: Folder | None = None,
    output: Folder | None = None,
    jobs: int | None = None,
    observer: Observer | None = None,
    cancel: threading.Event | None = None,
    accept_noise: bool = False,
    wait: bool | float = False,
    hosts: Where | None = None,
    certificates: Folder | None = None,
    insecure: bool = False,
    **keys: Any,
) -> ScreenResult:
    """Measure many configs that cover the range of every knob, to find the knobs that matter.

    `keys` are the keys of a study file, for instance `trials=200` or `screen={"runs": 3}`; they
    replace those of `study_file`. The same keys make the same study as `lsmtune screen`.
    `importance` ranks the knobs then. `output` is the file of the runs, by default one in the home.
    `jobs` is the number of runs at the same time, by default half the number of CPUs; lsmtune uses
    1 if more runs would change the results. The other arguments are those of `tune`.
    """
    check(PATH, study_file=study_file, home=home, output=output)
    check(NUMBER, jobs=jobs)
    used = _on_hosts(hosts, certificates, insecure)
    _check_running(observer, cancel, accept_noise, wait)
    request = _request("lsmtune.screen", study_file, keys)
    with _called(observer, cancel, wait):
        resolved = _remarked(resolve_screening(request, {}, _home(home)), observer)
        return screening.screen(
            resolved.settings, _home(home), observer, jobs=jobs, accept_noise=accept_noise,
            output=None if output is None else Path(output), hosts=used,
        )  # fmt: skip


def sweep(
    study_file: Folder | None = None,
    *,
    home: Folder | None = None,
    observer: Observer | None = None,
    cancel: threading.Event | None = None,
    accept_noise: bool = False,
    wait: bool | float = False,
    hosts: Where | None = None,
    certificates: Folder | None = None,
    insecure: bool = False,
    **keys: Any,
) -> SweepResult:
    """Measure every combination of the listed knob values, and compute the effects.

    `keys` are the keys of a study file, for instance
    `sweep={"factors": {"memtable": {"write_buffer_size": ["1MiB", "4MiB"]}}}`; they replace those
    of `study_file`. The same keys make the same study as `lsmtune sweep`. The other arguments are
    those of `tune`.
    """
    check(PATH, study_file=study_file, home=home)
    used = _on_hosts(hosts, certificates, insecure)
    _check_running(observer, cancel, accept_noise, wait)
    request = _request("lsmtune.sweep", study_file, keys)
    with _called(observer, cancel, wait):
        resolved = _remarked(resolve_sweep(request, _home(home)), observer)
        return experiments.sweep(
            resolved.settings, _home(home), observer, accept_noise=accept_noise, hosts=used
        )


def verify(
    study: str,
    *,
    home: Folder | None = None,
    scale: str | None = None,
    num: int | None = None,
    trial: int | None = None,
    pairs: int | None = None,
    rate: float | None = None,
    observer: Observer | None = None,
    cancel: threading.Event | None = None,
    accept_noise: bool = False,
    wait: bool | float = False,
    hosts: Where | None = None,
    certificates: Folder | None = None,
    insecure: bool = False,
) -> Result:
    """Measure the winner of a study, or a `trial`, against the baseline in new pairs of runs.

    `scale` and `num` are those of the study if they are not given; at another scale, the number of
    records grows with the tree. At least `pairs` pairs run, 6 or more; those of earlier calls with
    the same scale, records and rate count. `rate` is another rate of a running store, in operations
    per second. The other arguments are those of `tune`.
    """
    check(PATH, home=home)
    check(TEXT, study=study)
    check(NUMBER, num=num, trial=trial)
    used = _on_hosts(hosts, certificates, insecure)
    _check_running(observer, cancel, accept_noise, wait)
    _check_pairs(pairs)
    asked = verification.Verification(
        study=study, trial=trial, scale=None if scale is None else str(scale), num=num,
        pairs=pairs, rate=None if rate is None else str(rate),
    )  # fmt: skip
    with _called(observer, cancel, wait):
        done = verification.verify(
            asked, _home(home), observer, accept_noise=accept_noise, hosts=used
        )
        return done.result


def rehearse(
    study: str,
    folder: Folder,
    *,
    home: Folder | None = None,
    trial: int | None = None,
    rocksdb: str | None = None,
    library: Folder | None = None,
    observer: Observer | None = None,
    cancel: threading.Event | None = None,
) -> StoreRehearsed:
    """Open a copy of the store in `folder` with the exported file, then with the undo file.

    The store must be closed. lsmtune opens none of its files for writing. `rocksdb` is an installed
    version, and `library` a file, by default those of the study. `trial` is another trial than the
    winner. Before anything is copied, `observer` gets a remark with the bytes and the time limit.
    UserError if the study has no file to deploy, or if lsmtune cannot use the store. The attribute
    `passed` of the result is False if a file did not open the copy.
    """
    check(PATH, folder=folder, home=home, library=library)
    check(TEXT, study=study, rocksdb=rocksdb)
    check(NUMBER, trial=trial)
    check(OBSERVER, observer=observer)
    check(EVENT, cancel=cancel)
    with cancelled_by(cancel):
        return rehearse_store(
            study, Path(folder), _home(home), observer, trial=trial, rocksdb=rocksdb,
            library=None if library is None else str(library),
        )  # fmt: skip


def result(study: str, *, home: Folder | None = None, trial: int | None = None) -> Result:
    """Return the result of a stored study, or that of a `trial` of it instead of the winner."""
    check(TEXT, study=study)
    check(NUMBER, trial=trial)
    check(PATH, home=home)
    return stored_result(study, _home(home), trial)


def studies(home: Folder | None = None) -> list[dict[str, Any]]:
    """Return the studies of a home, oldest first, as `lsmtune studies --json` prints them."""
    check(PATH, home=home)
    return manage.studies(_home(home))


def inspect(path: Folder | Sequence[Folder], *, family: str | None = None) -> Inspection:
    """Read a LOG, statistics or an output of a store, and say what slows it down.

    Several files are the parts of one LOG. `family` is a column family to read alone.
    """
    check(TEXT, family=family)
    files = [path] if isinstance(path, str | Path) else path
    if not isinstance(files, Sequence) or not files:
        raise UserError(f"path = {path!r}: must be a path or a list of paths")
    for file in files:
        check(PATH, path=file)
    paths = [Path(file) for file in files]
    (found,) = inspecting.read(paths, rolled=len(paths) > 1, family=family)
    return found


def simulate(
    *,
    study: str | None = None,
    batch: Folder | None = None,
    num: int = 1_000_000,
    scale: str = "1/64",
    changes: str | Sequence[str] = (),
    home: Folder | None = None,
) -> Simulation:
    """Predict runs of RocksDB without a run: of a study, of a file, or of the defaults.

    `changes` are texts such as "write_buffer_size=64MiB". Times are in seconds, sizes in bytes.
    """
    check(PATH, home=home, batch=batch)
    check(TEXT, study=study, scale=scale)
    check(NUMBER, num=num)
    check(TEXTS, changes=changes)
    return simulation.simulate(
        _home(home), study=study, batch=None if batch is None else Path(batch), num=num,
        scale=scale, changes=_texts(changes),
    )  # fmt: skip


def importance(
    study: str | None = None,
    *,
    batch: Folder | None = None,
    metrics: str | Sequence[str] = (),
    repeats: int | None = None,
    home: Folder | None = None,
) -> ImportanceResult:
    """Rank the knobs by their effect on each metric, in a study or in a file of measured runs."""
    check(PATH, home=home, batch=batch)
    check(TEXT, study=study)
    check(TEXTS, metrics=metrics)
    check(NUMBER, repeats=repeats)
    file = None if batch is None else Path(batch)
    return ranking.importance(
        _home(home), study=study, batch=file, metrics=_texts(metrics), repeats=repeats
    )


@contextmanager
def _called(
    observer: Observer | None, cancel: threading.Event | None, wait: bool | float
) -> Iterator[None]:
    """Let `cancel` end the call, and wait for another call on the same study."""
    with cancelled_by(cancel), waiting_for_studies(wait, (observer or Observer()).remark):
        yield


def _home(home: Folder | None) -> Path:
    """Return the folder of the studies; without one, that of the command line."""
    return usual_home() if home is None else Path(home).expanduser()


def _request(
    place: str, study_file: Folder | None, keys: dict[str, Any], *, new_baseline: bool = False
) -> Request:
    """Return what the caller gave; UserError for a key that a study file does not have."""
    _check_keys(place, keys)
    return Request(
        place=place,
        study_file=None if study_file is None else Path(study_file),
        keys={name: _plain(value) for name, value in keys.items()},
        new_baseline=new_baseline,
    )


def _remarked(resolved: Resolved, observer: Observer | None) -> Resolved:
    """Give the observer the remarks about the settings, and return the settings."""
    for remark in resolved.remarks:
        (observer or Observer()).remark(remark)
    return resolved


def _plain(value: Any) -> Any:
    """Return a value as a study file has it: a list for a tuple, a text for a path.

    An engine becomes known to this process, and its name is the value.
    """
    if isinstance(value, EngineEntry):
        add_engine(value)
        return value.name
    if isinstance(value, tuple):
        return list(value)
    return str(value) if isinstance(value, Path) else value


def _texts(given: str | Sequence[str]) -> Sequence[str]:
    """Return texts; a single one needs no list."""
    return (given,) if isinstance(given, str) else given


_INSIDE = {
    "num": '`num` is a key of the workload: workload={"num": 200_000}',
    "limit": "the key is `limits`, a list of texts",
    **{
        name: f"`{name}` is a key of the table `screen`: screen={{{name!r}: …}}"
        for name in Screen.model_fields
    },
}
"""Flags of the command line that are no keys."""


def _check_keys(place: str, keys: dict[str, Any]) -> None:
    """Raise UserError for a key that a study file does not have."""
    for name in keys:
        if name in _INSIDE:
            raise UserError(f"{place}: {name}: unknown setting; {_INSIDE[name]}")
        if name not in STUDY_KEYS and name not in all_keys():
            known = unknown_word("setting", name, all_keys())
            raise UserError(f"{place}: {known}")


def _on_hosts(hosts: Where | None, certificates: Folder | None, insecure: bool) -> OnHosts | None:
    """Return where runs go, None for this process; UserError for an argument of another kind."""
    check(HOSTS, hosts=hosts)
    check(PATH, certificates=certificates)
    check(SWITCH, insecure=insecure)
    return on_hosts(hosts, certificates, insecure)


def _check_running(
    observer: Observer | None,
    cancel: threading.Event | None,
    accept_noise: bool,
    wait: bool | float,
) -> None:
    """Raise UserError for an argument of the functions that run studies."""
    check(OBSERVER, observer=observer)
    check(EVENT, cancel=cancel)
    check(SWITCH, accept_noise=accept_noise)
    check(WAIT, wait=wait)


def _check_pairs(pairs: int | None) -> None:
    """Raise UserError for too few pairs of runs."""
    if pairs is not None and (type(pairs) is not int or pairs < MIN_PAIRS):
        raise UserError(f"pairs = {pairs!r}: must be a whole number, at least {MIN_PAIRS}")
