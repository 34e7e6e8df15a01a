"""Check that a study continues on the system that it started on."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import EngineFacts
from lsmtune.errors import Argument, UserError
from lsmtune.spec import StudySettings
from lsmtune.store.records import StoredStudy, StudyHost
from lsmtune.system.host import HostFacts, StorageFacts
from lsmtune.units import format_bytes

_MEMORY_TOLERANCE = 0.1
_FOR_READERS = ("area", "trade", "risk", "meaning", "label", "group", "shown")
"""Fields of knobs and metrics that change no result."""


def foreign_engine(engine: str) -> dict[str, Any] | None:
    """Return package, knobs and metrics of an engine as a study stores them, as JSON.

    None for an engine of lsmtune. The package is None if only a Python program has the engine.
    """
    if engine in ENGINES.built_in:
        return None
    entry = ENGINES[engine]
    knobs = [one.model_dump(mode="json", exclude_defaults=True) for one in entry.catalogue().knobs]
    metrics = [
        one if isinstance(one, str) else {k: v for k, v in asdict(one).items() if k != "formula"}
        for one in entry.metrics or ()
    ]
    return {"package": ENGINES.package(engine), "knobs": knobs, "metrics": metrics}


def check_same_system(
    stored: StoredStudy,
    spec: StudySettings,
    facts: EngineFacts,
    host: HostFacts,
    storage: StorageFacts,
) -> None:
    """Raise UserError if the engine or the host is not that of the stored runs.

    Runs of different systems cannot be compared. A new kernel or host name is allowed. A fact
    that one of the systems does not tell is not compared.
    """
    changes = [
        f"{name} was {then} and is now {now}"
        for name, then, now in _differing(stored, spec, facts, host, storage)
    ]
    if changes:
        raise UserError(
            f"study {stored.name!r} started on another system: {'; '.join(changes)}. Results of "
            "different systems cannot be compared; add ",
            Argument("new_baseline", True),
            " to measure the baseline again in a new study",
        )


def system_notes(stored: StoredStudy, spec: StudySettings, host: HostFacts) -> Iterator[str]:
    """Yield what changed on the system without making runs incomparable: its kernel."""
    before = stored.host.kernel
    if ENGINES[spec.engine].runs_here and before != host.kernel:
        yield f"the kernel was {before} when the study began and is now {host.kernel}"


def _differing(
    stored: StoredStudy,
    spec: StudySettings,
    facts: EngineFacts,
    host: HostFacts,
    storage: StorageFacts,
) -> Iterator[tuple[str, str, str]]:
    """Yield the facts that differ: name, stored value, value now."""
    before = stored.engine
    if before.version != facts.version:
        yield f"the version of {spec.engine}", before.version, facts.version
    if before.assertions_enabled != facts.assertions_enabled:
        builds = {True: "with assertions", False: "without assertions"}
        then, now = builds[before.assertions_enabled], builds[facts.assertions_enabled]
        yield f"the build of {spec.engine}", then, now
    yield from _other_engine(before.described, spec)
    origin = before.origin
    if origin is not None and facts.origin is not None and origin.sha256 != facts.origin.sha256:
        yield f"the library of {spec.engine}", origin.text, facts.origin.text
    for version, one in facts.versions.items():
        kept = before.libraries.get(version)
        if version == facts.version or kept is None or one.origin is None:
            continue
        if kept.sha256 != one.origin.sha256:
            yield f"the library of {spec.engine} {version}", kept.text, one.origin.text
    codecs = (None if names is None else ", ".join(sorted(names))
              for names in (before.base.codecs, facts.codecs))  # fmt: skip
    yield from _changed(f"the compression codecs of {spec.engine}", *codecs)
    if ENGINES[spec.engine].runs_here:
        yield from _other_host(stored.host, host, storage)


def _changed(name: str, then: str | None, now: str | None) -> Iterator[tuple[str, str, str]]:
    """Yield a fact that differs; one that a system does not tell is not compared."""
    if then is not None and now is not None and then != now:
        yield name, then, now


def _other_engine(
    then: Mapping[str, Any] | None, spec: StudySettings
) -> Iterator[tuple[str, str, str]]:
    """Yield the knobs and metrics that an engine of another package or program has changed."""
    now = foreign_engine(spec.engine)
    if then is None or now is None:
        return
    for key, word in (("knobs", "knob"), ("metrics", "metric")):
        before, here = (_by_name(one.get(key) or ()) for one in (then, now))
        for name in dict.fromkeys((*before, *here)):
            was, is_now = before.get(name), here.get(name)
            if was != is_now:
                yield f"the {word} {name} of {spec.engine}", _part(was, is_now), _part(is_now, was)


def _by_name(things: Iterable[Any]) -> dict[str, dict[str, Any]]:
    """Return knobs or metrics by name, without what only readers see."""
    dicts = ({"name": one} if isinstance(one, str) else one for one in things)
    return {one["name"]: {k: v for k, v in one.items() if k not in _FOR_READERS} for one in dicts}


def _part(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> str:
    """Return what differs in a knob or metric from the other one."""
    if one is None:
        return "missing"
    differing = {k: v for k, v in one.items() if other is not None and other.get(k) != v}
    return ", ".join(f"{key} {value}" for key, value in differing.items()) or "there"


def _other_host(
    before: StudyHost, host: HostFacts, storage: StorageFacts
) -> Iterator[tuple[str, str, str]]:
    yield from _changed("the CPU", before.cpu_model, host.cpu_model)
    cores = str(before.usable_cpus), str(host.usable_cpus)
    yield from _changed("the number of usable cores", *cores)
    memory = before.memory_bytes
    if abs(host.memory_bytes - memory) > _MEMORY_TOLERANCE * memory:
        yield "the memory", format_bytes(memory), format_bytes(host.memory_bytes)
    disk, kinds = before.storage, {True: "a rotating disk", False: "an SSD", None: None}
    yield from _changed("the file system", disk.fs_type, storage.fs_type)
    yield from _changed("the kind of device", kinds[disk.rotational], kinds[storage.rotational])
