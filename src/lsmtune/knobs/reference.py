"""The catalogue in words: what of a knob there is to know, as lines and as a page."""

from collections.abc import Iterator
from itertools import groupby

from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.types import Knob, Value


def default_text(knob: Knob) -> str:
    """The knob's default as it is written in listings."""
    return _text(knob.default)


def remarks(knob: Knob) -> list[str]:
    """What holds of the knob besides its range: conditions, risk, versions, why it is not tuned."""
    found = []
    if knob.when:
        conditions = (f"{name} = {_either(values)}" for name, values in knob.when.items())
        found.append(f"counts with {' and '.join(conditions)}")
    if knob.named_only:
        found.append(f"never drawn: {', '.join(_text(value) for value in knob.named_only)}")
    if knob.risk:
        found.append(f"only when named: {knob.risk}")
    if knob.inert:
        found.append(f"not tuned: {knob.inert}")
    if knob.option is None and knob.flag:
        found.append("a flag of db_bench alone")
    if knob.until:
        found.append(f"RocksDB {knob.since} to {knob.until}")
    elif knob.since != "6.0":
        found.append(f"RocksDB {knob.since} and newer")
    return found


def lines(catalogue: Catalogue) -> Iterator[str]:
    """The catalogue as lines of text, by area."""
    for area, knobs in groupby(catalogue.knobs, key=lambda knob: knob.area):
        yield f"{area}:"
        for knob in knobs:
            scales = "; scaled" if knob.scales else ""
            told = f"{knob.allowed_text()}; default {default_text(knob)}; {knob.apply}{scales}"
            yield f"  {knob.name}  [{told}]"
            yield f"      {'; '.join([knob.trade, *remarks(knob)])}"
    for preset in catalogue.presets:
        count = len(catalogue.select(preset.name))
        yield f"preset {preset.name} ({count} knobs): {preset.title}"
    for parameter in catalogue.workload_parameters:
        yield f"no knob but part of the workload: {parameter.name} ({parameter.reason})"
    for note in catalogue.notes:
        yield f"note: {note}"


def page(catalogue: Catalogue) -> str:
    """The catalogue as a page in Markdown."""
    return "\n".join(_page_lines(catalogue)) + "\n"


def _page_lines(catalogue: Catalogue) -> Iterator[str]:
    engine = "" if catalogue.engine == "rocksdb" else f" {catalogue.engine}"
    yield f"# Knobs of {catalogue.engine}"
    yield ""
    yield (
        f"Written by `lsmtune knobs{engine} --markdown`. Ranges are those that are searched, at "
        "scale 1;"
    )
    yield f"defaults are those of {catalogue.defaults_of or 'the engine'}."
    yield ""
    yield from (f"- {note}" for note in catalogue.notes)
    yield ""
    yield "## Presets"
    yield ""
    yield "| preset | knobs | what |"
    yield "|---|---|---|"
    for preset in catalogue.presets:
        yield f"| `{preset.name}` | {len(catalogue.select(preset.name))} | {preset.title} |"
    for area, knobs in groupby(catalogue.knobs, key=lambda knob: knob.area):
        yield ""
        yield f"## {area[0].upper()}{area[1:]}"
        yield ""
        yield "| knob | range | default | change | what it trades |"
        yield "|---|---|---|---|---|"
        yield from map(_row, knobs)
    if not catalogue.workload_parameters:
        return
    yield ""
    yield "## No knobs but part of the workload"
    yield ""
    yield from (f"- `{p.name}`: {p.reason}" for p in catalogue.workload_parameters)


def _row(knob: Knob) -> str:
    scales = ", scaled" if knob.scales else ""
    trade = ". ".join(f"{told[0].upper()}{told[1:]}" for told in (knob.trade, *remarks(knob)))
    cells = (f"`{knob.name}`", knob.allowed_text() + scales, default_text(knob), knob.apply, trade)
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _either(values: tuple[Value, ...]) -> str:
    return " or ".join(_text(value) for value in values)


def _text(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
