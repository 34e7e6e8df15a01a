"""Texts about the knobs of an engine: remarks, and the reference page."""

from collections.abc import Iterable, Iterator
from itertools import groupby

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.existing import StoreChange, store_changes
from lsmtune.knobs.knob_text import readable_value
from lsmtune.knobs.types import Knob, Value, value_text

_OLDEST = "6.0"


def remarks(knob: Knob) -> list[str]:
    """Return sentences about conditions, risk, versions, and why a knob is not tuned."""
    found = []
    if knob.when:
        conditions = (f"{name} = {_either(values)}" for name, values in knob.when.items())
        found.append(f"The knob has an effect only with {' and '.join(conditions)}.")
    if knob.named_only:
        values = " or ".join(f"`{value_text(value)}`" for value in knob.named_only)
        found.append(f"A search tries the value {values} only if the baseline has this value.")
    for value, version in knob.choices_since.items():
        found.append(f"The value `{value}` needs RocksDB {version} or newer.")
    if knob.risk:
        found.append(f"lsmtune tunes this knob only if you name the knob. Risk: {knob.risk}.")
    if knob.avoid:
        found.append(f"A search with the default knobs leaves this knob alone: {knob.avoid}.")
    if knob.inert:
        found.append(f"lsmtune never tunes this knob: {knob.inert}.")
    if knob.option is None and knob.flag:
        found.append("The knob is a flag of db_bench and has no entry in OPTIONS files.")
    if knob.until:
        found.append(f"The knob exists in RocksDB {knob.since} to {knob.until}.")
    elif knob.since != _OLDEST:
        found.append(f"The knob needs RocksDB {knob.since} or newer.")
    return found


def store_remarks(catalogue: Catalogue, knob: Knob) -> list[str]:
    """Return sentences about changes of the knob that an existing store does not simply accept."""
    return [text for change in catalogue.store_changes(knob) for text in _change(catalogue, change)]


def _change(catalogue: Catalogue, change: StoreChange) -> Iterator[str]:
    """Yield what happens in both directions, with the message of RocksDB and the needed step."""
    value, where = _changed_value(catalogue, change), _versions(change)
    refusal = f": `{change.message}`" if change.message else ""
    step = f"only after this step: {change.step}"
    yield {
        "opens": f"{where}An existing store opens with {value}.",
        "rewrites": f"{where}With {value}, RocksDB rewrites or moves most of an existing store.",
        "migration": f"{where}An existing store refuses {value}{refusal}. It opens {step}.",
        "refused": f"{where}An existing store refuses {value}{refusal}. No step is known.",
        "loses": f"{where}With {value}, an existing store loses the keys beyond its limits.",
    }[change.forward]
    if change.forward in ("migration", "refused"):
        refusal = ""
    yield from {
        "opens": ["The old value opens the store again."] if change.forward != "refused" else [],
        "rewrites": ["With the old value again, RocksDB rewrites or moves most of the store."],
        "migration": [f"Then the store refuses the old value{refusal}. It opens {step}."],
        "refused": [f"Then the store refuses the old value{refusal}. There is no way back."],
        "loses": ["The old value does not bring the keys back."],
    }[change.back]


_CHANGED = {"other": "another value", "lower": "a lower value", "higher": "a higher value",
            "tighter": "a tighter limit"}  # fmt: skip


def _changed_value(catalogue: Catalogue, change: StoreChange) -> str:
    knob = next(k for k in catalogue.knobs if catalogue.names.option(k.name) == change.option)
    if isinstance(change.to, str):
        value = _CHANGED[change.to]
    else:
        value = _either(tuple(readable_value(knob, one) for one in change.to))
    if change.before:
        value += f" instead of {_either(tuple(readable_value(knob, v) for v in change.before))}"
    needed = (f"{name} = {_either(values)}" for name, values in change.when.items())
    return " and ".join([value, *needed])


def _versions(change: StoreChange) -> str:
    if change.since and change.until:
        return f"RocksDB {change.since} to {change.until}: "
    if change.since:
        return f"RocksDB {change.since} or newer: "
    return f"RocksDB {change.until} or older: " if change.until else ""


def _versions_tried() -> str:
    tried = {version for change in store_changes() for version in change.tried}
    return f"RocksDB {', '.join(sorted(tried, key=version_number))}"


def page(catalogue: Catalogue) -> str:
    """Return the catalogue as a page in Markdown."""
    return "\n".join(_page_lines(catalogue)) + "\n"


def _page_lines(catalogue: Catalogue) -> Iterator[str]:
    yield f"# Knobs of {catalogue.engine}"
    yield ""
    yield f"This page lists the options of {catalogue.engine} that lsmtune can tune."
    yield f"The command `lsmtune knobs {catalogue.engine} --markdown` generates this page."
    yield ""
    yield "- **range**: the values that a search tries. Sizes marked `scaled` are for `--scale 1`."
    yield "  With `--base`, lsmtune widens the range around the value in your file."
    program = catalogue.defaults_of or "the engine"
    yield f"- **default**: the default value of the option in {program}."
    yield "- **change**: `online` if a running store can change the option, otherwise `restart`."
    if any(catalogue.store_changes(knob) for knob in catalogue.knobs):
        yield "- **existing store**: a store with data that RocksDB opens with a changed value. The"
        yield "  effect says what happens if the store does not just open."
        yield f"  The changes were tried on {_versions_tried()}."
    yield from (f"- {note}" for note in catalogue.notes)
    yield ""
    yield "## Presets"
    yield ""
    yield "`--knobs PRESET` tunes the knobs of a preset."
    yield ""
    yield "| preset | number of knobs | content |"
    yield "|---|---|---|"
    for preset in catalogue.presets:
        yield f"| `{preset.name}` | {len(catalogue.select(preset.name))} | {preset.title} |"
    yield ""
    yield from tables(catalogue, catalogue.knobs)
    if not catalogue.workload_parameters:
        return
    yield ""
    yield "## Parameters of the workload"
    yield ""
    yield "Parameters of the workload are not knobs."
    yield "Set a parameter of the workload in `[workload]` of the study file."
    yield ""
    yield from (f"- `{p.name}`: {p.reason}" for p in catalogue.workload_parameters)


def tables(catalogue: Catalogue, knobs: Iterable[Knob]) -> Iterator[str]:
    """Yield a table in Markdown for each area of the knobs."""
    for place, (area, of_area) in enumerate(groupby(knobs, key=lambda knob: knob.area)):
        yield from ("",) if place else ()
        yield f"## {area[0].upper()}{area[1:]}"
        yield ""
        yield "| knob | range | default | change | effect |"
        yield "|---|---|---|---|---|"
        yield from (_row(catalogue, knob) for knob in of_area)


def _row(catalogue: Catalogue, knob: Knob) -> str:
    effect = " ".join([knob.trade, *remarks(knob), *store_remarks(catalogue, knob)])
    cells = (f"`{knob.name}`", _range_text(knob), value_text(knob.default), knob.apply, effect)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _range_text(knob: Knob) -> str:
    return knob.allowed_text() + (", scaled" if knob.scales else "")


def _either(values: tuple[Value, ...]) -> str:
    return " or ".join(value_text(value) for value in values)
