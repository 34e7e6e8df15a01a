"""From what the user gave to the settings of a study: all steps, in their order.

1. the study file, or the stored study of this name; keys of the request replace its values
2. the switches `online` and `as_published`
3. the RocksDB: named, stored, $LSMTUNE_DB_BENCH, version of the baseline, installed, on PATH
4. `top:N` and `lasso:N` become names of knobs
5. defaults that suit workload and engine, then the checks of all settings (`make_spec`)
6. the optimizer: `guided` if the simulator supports the study
7. the stored study of this name goes on, or a new study starts from its runs
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lsmtune.analysis.continuing import FLAGS
from lsmtune.api.consent import Consent, nobody_to_ask, own_study_file
from lsmtune.api.continue_study import followed, stored_settings
from lsmtune.api.default_optimizer import with_usual_optimizer
from lsmtune.api.rocksdb_version import name_rocksdb
from lsmtune.errors import UserError, with_places
from lsmtune.optimizers.registry import published_name
from lsmtune.spec import StudySettings, make_spec
from lsmtune.spec_defaults import SYSTEM_KEYS, unused_online
from lsmtune.study.observer import Observer


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
    given = given_settings(request, consent, home)
    apply_switches(given, request)
    chosen = name_rocksdb(given, request.keys, home, remarks.append, consent)
    name_ranked_knobs(given, home, observer, remarks.append)
    made = make_spec(given, request.where, request.flag_names)
    if "optimizer" not in given:
        made = with_usual_optimizer(made, home, remarks.append)
    spec, source = followed(
        made, home, remarks.append, new_baseline=request.new_baseline, chosen=chosen
    )
    return Resolved(spec, source, tuple(remarks))


def given_settings(request: Request, consent: Consent, home: Path | None = None) -> dict[str, Any]:
    """Return the settings of the study file, replaced by those of the request.

    Without a study file, they are those of the stored study in `home` that the request names. The
    keys that name a RocksDB are left to `name_rocksdb`.
    """
    keys = request.keys
    if request.study_file:
        given = own_study_file(request.study_file, consent)
    else:
        given = stored_settings(home, keys.get("study"), consent) if home else {}
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
    given: dict[str, Any], home: Path, observer: Observer, tell: Callable[[str], None]
) -> None:
    """Replace `top:N` or `lasso:N` by the N knobs that matter most in measured runs."""
    wanted = given.get("knobs")
    if not isinstance(wanted, str) or not wanted.startswith(("top:", "lasso:")):
        return
    from lsmtune.api.knob_ranking import ranked_knobs  # noqa: PLC0415 - slow to import

    with observer.working(f"ranking the knobs for {wanted}"):
        knobs, source = ranked_knobs(wanted, given, home)
    tell(f"knobs: {wanted} from {source}: {knobs}")
    given["knobs"] = knobs
