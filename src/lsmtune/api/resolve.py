"""From what the user gave to the settings of a study: all steps, in their order.

1. the study file, or the stored study of this name; keys of the request replace its values
2. the switches `online` and `as_published`
3. the RocksDB: named, stored, $LSMTUNE_DB_BENCH, version of the baseline, installed, on PATH
4. `top:N` and `lasso:N` become names of knobs
5. defaults that suit workload and engine, then the checks of all settings (`make_spec`)
6. the optimizer: `guided` if the simulator supports the study
7. the stored study of this name goes on, or a new study starts from its runs
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsmtune.analysis.continuing import FLAGS
from lsmtune.api.consent import Consent, nobody_to_ask, own_study_file
from lsmtune.api.continue_study import StoredStudies, followed
from lsmtune.api.rocksdb_version import name_rocksdb
from lsmtune.engine_traits import ENGINES, refusal, runs
from lsmtune.errors import UserError, with_places
from lsmtune.optimizers.registry import published_name
from lsmtune.progress import Observer
from lsmtune.simulator import (
    COMPARED,
    MODELLED_VERSION,
    RUNNING_COMPARED,
    UNMODELLED_KNOBS,
    Compared,
    is_installed,
    nearest_compared,
)
from lsmtune.spec import StudySettings, catalogue_of, make_spec
from lsmtune.spec_defaults import SYSTEM_KEYS, unused_online

__all__ = ["StudySettings"]

_LED = "guided"
_MOST_ERROR = 0.1
"""Maximum median error of write amplification of a simulator that leads by default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What the user gave: a study file, keys, and switches.

    `keys` has keys of a study file; None counts as not given. `workload` and `num` replace the
    name and the number of records of the workload. `place` names the caller in messages. With
    `flags`, messages about a key name its flag, as the command line needs it.
    """

    place: str = "lsmtune.tune"
    study_file: Path | None = None
    keys: Mapping[str, Any] = field(default_factory=dict)
    workload: str | None = None
    num: int | None = None
    online: bool = False
    as_published: bool = False
    new_baseline: bool = False
    flags: bool = False

    @property
    def where(self) -> str:
        """The study file, or the caller."""
        return str(self.study_file or self.place)

    @property
    def flag_names(self) -> dict[str, str]:
        """The flag of each key that the command line gave, for messages."""
        if not self.flags:
            return {}
        names = flag_names(self.keys, self.workload, self.num)
        return names | ({"online": "--online"} if self.online else {})


@dataclass(frozen=True, slots=True)
class Resolved:
    """Complete settings of a study, and the study whose runs it starts from, if any.

    `remarks` are sentences about choices that the user did not make.
    """

    settings: StudySettings
    source: str | None = None
    remarks: tuple[str, ...] = ()


def resolve(
    request: Request,
    home: Path,
    *,
    consent: Consent = nobody_to_ask,
    observer: Observer | None = None,
) -> Resolved:
    """Return the settings of the study that a request asks for. Nothing is written.

    UserError for settings that cannot be used, with file or flag, key, value and what is allowed.
    """
    observer = observer or Observer()
    remarks: list[str] = []
    with StoredStudies(home, consent) as stored:
        given = given_settings(request, consent, stored)
        apply_switches(given, request)
        chosen = name_rocksdb(given, request.keys, stored.settings, remarks.append)
        name_ranked_knobs(given, stored, observer, remarks.append)
        made = make_spec(given, request.where, request.flag_names)
        if "optimizer" not in given:
            made = with_usual_optimizer(made, stored, remarks.append)
        spec, source = followed(
            made, stored, remarks.append, new_baseline=request.new_baseline, chosen=chosen
        )
    return Resolved(spec, source, tuple(remarks))


def given_settings(
    request: Request, consent: Consent, stored: StoredStudies | None = None
) -> dict[str, Any]:
    """Return the settings of the study file, replaced by those of the request.

    Without a study file, they are those of the `stored` study that the request names. The
    keys that name a RocksDB are left to `name_rocksdb`.
    """
    keys = request.keys
    if request.study_file:
        given = own_study_file(request.study_file, consent)
    else:
        given = stored.settings(keys.get("study")) if stored else {}
    given |= {k: v for k, v in keys.items() if v is not None and k not in SYSTEM_KEYS}
    if request.workload is not None or request.num is not None:
        given["workload"] = merged_workload(given.get("workload"), request.workload, request.num)
    return given


def flag_names(
    flags: Mapping[str, Any], workload: str | None = None, num: int | None = None
) -> dict[str, str]:
    """Return the flag of each setting that the command line gave, for messages.

    --db-bench is not among them, because the variable or a file may have given the program.
    """
    names = {
        key: FLAGS.get(key, f"--{key.replace('_', '-')}")
        for key, value in flags.items()
        if value is not None and key != "program"
    }
    names |= {} if workload is None else {"workload.name": "--workload"}
    return names | ({} if num is None else {"workload.num": "--num"})


def merged_workload(given: Any, name: str | None, num: int | None) -> Any:
    """Return the workload of the study file with the values of the request.

    A value of the wrong type is returned unchanged.
    """
    if not isinstance(given, str | dict | None):
        return given
    table = {"name": given} if isinstance(given, str) else dict(given or {})
    if name is not None:
        table["name"] = name
    if num is not None:
        table["num"] = num
    return table


def apply_switches(given: dict[str, Any], request: Request) -> None:
    """Put `online` and `as_published` into the settings.

    UserError if the user set something that has no effect on online tuning. Without a study file,
    `given` may be the settings of a stored study, which has a value for each key. So only the keys
    of the request count then.
    """
    if request.online:
        given.setdefault("online", {})
    if request.as_published:
        given["optimizer"] = published_name(given.get("optimizer", "tpe"))
    if given.get("online") is None:
        return
    problem = unused_online(given if request.study_file else request.keys)
    if problem is not None:
        raise UserError(with_places([problem], request.where, request.flag_names))


def name_ranked_knobs(
    given: dict[str, Any],
    stored: StoredStudies,
    observer: Observer,
    tell: Callable[[str], None],
) -> None:
    """Replace `top:N` or `lasso:N` by the N knobs that matter most in measured runs."""
    wanted = given.get("knobs")
    if not isinstance(wanted, str) or not wanted.startswith(("top:", "lasso:")):
        return
    from lsmtune.api.knob_ranking import ranked_knobs  # noqa: PLC0415 - slow to import

    with observer.working(f"ranking the knobs for {wanted}"):
        knobs, source = ranked_knobs(wanted, given, stored.path, stored.home)
    tell(f"knobs: {wanted} from {source}: {knobs}")
    given["knobs"] = knobs


def with_usual_optimizer(
    spec: StudySettings,
    stored: StoredStudies,
    tell: Callable[[str], None],
    compared: Sequence[Compared] = COMPARED,
    running: Sequence[Compared] = RUNNING_COMPARED,
) -> StudySettings:
    """Return the spec with `guided` if the simulator supports its workload, knobs and RocksDB.

    `compared` and `running` have the errors of the simulator for filled and for running stores, by
    version. A study that was started with another optimizer keeps the normal default.
    """
    known = running if spec.is_running else compared
    if not known or not _is_simulated(spec) or _begun_with(stored, spec.name) != _LED:
        return spec
    # The versions of db_bench and of a library are not known before they run.
    nearest = nearest_compared(spec.rocksdb or MODELLED_VERSION, known)
    if nearest.write_amp_error > _MOST_ERROR:
        tell(
            f"optimizer: {spec.optimizer}, not {_LED}, because the simulator is too inexact for "
            f"this RocksDB: on {nearest.version}, the median error of write amplification is "
            f"{100 * nearest.write_amp_error:.0f} %"
        )
        return spec
    return spec.model_copy(update={"optimizer": _LED})


def _begun_with(stored: StoredStudies, name: str) -> str:
    """The optimizer of an existing study; `guided` for a new one."""
    study = stored.find(name)
    return _LED if study is None else str(study.spec["optimizer"])


def _is_simulated(spec: StudySettings) -> bool:
    """Whether the simulator supports engine, workload and knobs; objectives are checked later."""
    simulator, load = ENGINES[spec.engine].predicted_by, spec.workload
    knobs = {knob.name for knob in catalogue_of(spec.engine, load).select(spec.knobs)}
    return (
        simulator is not None
        and is_installed()
        and runs(simulator, load.name)
        and refusal(simulator, load) is None
        and UNMODELLED_KNOBS.isdisjoint(knobs)
        and spec.warm_start is None
        and spec.online is None
    )
