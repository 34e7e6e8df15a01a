"""The functions of `import lsmtune`.

Sizes, scales and times are texts as on the command line, such as "512MiB", "1/64" and "20m". No
function prints, asks a question, handles a signal or ends the process. Mistakes raise `UserError`,
other failures `LsmtuneError`; the message is one sentence. A study runs and waits in the thread
that calls; this may be any thread.
"""

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lsmtune.analysis.deploy import DEFAULT_HOME
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path, inspect_rolled
from lsmtune.api import importance as ranking
from lsmtune.api import manage, online
from lsmtune.api import simulate as simulation
from lsmtune.api import tune as tuning
from lsmtune.api import verify as verification
from lsmtune.api.importance import ImportanceResult
from lsmtune.api.resolve import Request, resolve
from lsmtune.api.simulate import Simulation
from lsmtune.api.study_result import Result, stored_result
from lsmtune.errors import UserError
from lsmtune.spec import StudySettings
from lsmtune.study.observer import Observer
from lsmtune.system.cancelling import cancelled_by

Folder = str | Path


def tune(
    study_file: Folder | None = None,
    *,
    home: Folder = DEFAULT_HOME,
    observer: Observer | None = None,
    cancel: threading.Event | None = None,
    accept_noise: bool = False,
    new_baseline: bool = False,
    **keys: Any,
) -> Result:
    """Find better options for a workload, verify the winner, and write its files into the home.

    `keys` are the keys of a study file, for instance `rocksdb="11.8.1"`, `base="OPTIONS"`,
    `workload={"name": "mix", "num": 200_000}` or `trials=24`; they replace those of `study_file`.
    The same keys make the same study as `lsmtune tune`: same name, same trials. `study` names a
    stored study to continue. `observer` sees the progress. `cancel` ends the call when it is set:
    the run ends, its folder is removed, `Cancelled` is raised, and the same call continues the
    study. For `accept_noise` and `new_baseline` see `lsmtune tune --help`.
    """
    _check_keys(keys)
    request = Request(
        study_file=None if study_file is None else Path(study_file),
        keys={name: list(v) if isinstance(v, tuple) else v for name, v in keys.items()},
        new_baseline=new_baseline,
    )
    with cancelled_by(cancel):
        resolved = resolve(request, Path(home), observer=observer)
        for remark in resolved.remarks:
            (observer or Observer()).remark(remark)
        if resolved.settings.online is not None:
            changed = online.run_online(resolved, Path(home), observer)
            if changed.problem is not None:
                raise changed.problem
            return changed.result
        return tuning.tune(resolved, Path(home), observer, accept_noise=accept_noise).result


def verify(
    study: str,
    *,
    home: Folder = DEFAULT_HOME,
    scale: str | None = None,
    num: int | None = None,
    trial: int | None = None,
    pairs: int | None = None,
    observer: Observer | None = None,
    cancel: threading.Event | None = None,
    accept_noise: bool = False,
) -> Result:
    """Measure the winner of a study, or a `trial`, against the baseline in new pairs of runs.

    `scale` and `num` are those of the study if they are not given; at another scale, the number of
    records grows with the tree.
    """
    asked = verification.Verification(study=study, trial=trial, scale=scale, num=num, pairs=pairs)
    with cancelled_by(cancel):
        return verification.verify(asked, Path(home), observer, accept_noise=accept_noise).result


def result(study: str, *, home: Folder = DEFAULT_HOME, trial: int | None = None) -> Result:
    """Return the result of a stored study, or that of a `trial` of it instead of the winner."""
    return stored_result(study, Path(home), trial)


def studies(home: Folder = DEFAULT_HOME) -> list[dict[str, Any]]:
    """Return the studies of a home, oldest first, as `lsmtune studies --json` prints them."""
    return manage.studies(Path(home))


def inspect(path: Folder | Sequence[Folder], *, family: str | None = None) -> Inspection:
    """Read a LOG, statistics or an output of a store, and say what slows it down.

    Several files are the parts of one LOG. `family` is a column family to read alone.
    """
    if isinstance(path, str | Path):
        return inspect_path(Path(path), family)
    return inspect_rolled([Path(part) for part in path], family)


def simulate(
    *,
    study: str | None = None,
    batch: Folder | None = None,
    num: int = 1_000_000,
    scale: str = "1/64",
    changes: Sequence[str] = (),
    home: Folder = DEFAULT_HOME,
) -> Simulation:
    """Predict runs of RocksDB without a run: of a study, of a file, or of the defaults.

    `changes` are texts such as "write_buffer_size=64MiB". Times are in seconds, sizes in bytes.
    """
    return simulation.simulate(
        Path(home), study=study, batch=None if batch is None else Path(batch), num=num,
        scale=scale, changes=changes,
    )  # fmt: skip


def importance(
    study: str | None = None,
    *,
    batch: Folder | None = None,
    metrics: Sequence[str] = (),
    repeats: int | None = None,
    home: Folder = DEFAULT_HOME,
) -> ImportanceResult:
    """Rank the knobs by their effect on each metric, in a study or in a file of measured runs."""
    file = None if batch is None else Path(batch)
    return ranking.importance(Path(home), study=study, batch=file, metrics=metrics, repeats=repeats)


def _check_keys(keys: dict[str, Any]) -> None:
    """Raise UserError for a key that a study file does not have."""
    unknown = next((name for name in keys if name not in StudySettings.model_fields), None)
    if unknown is not None:
        raise UserError(
            f"lsmtune.tune: {unknown}: unknown key; `lsmtune schema` lists the keys of a study"
        )
