"""The table of changes that an existing store survives, compared with what was tried."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lsmtune.knobs.catalogue import load
from lsmtune.knobs.existing import StoreChange, changes_between, existing_rules, store_changes
from lsmtune.knobs.reference import store_remarks
from lsmtune.knobs.rules.base import Context, applies
from lsmtune.knobs.types import Settings

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results" / "existing_stores.json"
RECORDED: dict[str, Any] = json.loads(RESULTS.read_text(encoding="utf-8"))
REFUSALS = {"migration", "refused"}
DIRECTIONS = ("forward", "back")
CATALOGUE = load("rocksdb")
LAST_LEVEL_EMPTY = ("fifo", "one level", "upper levels")
"""Stores that may open with fewer levels."""


@dataclass(frozen=True)
class Tried:
    """A change of the options of one family, what happened, and the rows of the table about it."""

    name: str
    version: str
    store: str
    before: Settings
    after: Settings
    outcome: dict[str, Any]

    @property
    def rows(self) -> list[StoreChange]:
        """The rows that mean the change."""
        between = changes_between(self.before, self.after, version=self.version)
        return [row for _, row in between]

    def happened(self, direction: str) -> str:
        """What happened when the store was opened."""
        return str(self.outcome.get(direction, "opens"))

    def agrees(self, direction: str) -> bool:
        """Whether the rows say what happened.

        A small store need not show what a large one does: it may have less than a limit, and less
        to rewrite.
        """
        happened = self.happened(direction)
        effects = {getattr(row, direction) for row in self.rows}
        if effects & REFUSALS:
            return happened in effects or self.store in LAST_LEVEL_EMPTY
        return happened in effects or happened == "opens"


def _tried() -> Iterator[Tried]:
    for version, results in RECORDED.items():
        for name, outcome in results["tries"].items():
            base, _, change = name.partition(": ")
            if outcome.keys() & {"as_such", "fails"}:
                continue
            families = results["stores"][base]
            for family, own in families.items():
                alone = outcome.get("families", {}).get(family, {})
                found = outcome if len(families) == 1 else alone
                title = f"{version} {base} {family}: {change}"
                before = results["defaults"]["main"] | own
                yield Tried(title, version, base, before, before | _values(change), found)


def _values(change: str) -> Settings:
    pairs = (part.partition("=") for part in change.split(", "))
    return {name: _value(text) for name, _, text in pairs}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


TRIED = list(_tried())


def test_each_outcome_has_a_row_and_no_row_says_otherwise() -> None:
    wrong = [
        (one.name, one.outcome, one.rows) for one in TRIED if not all(map(one.agrees, DIRECTIONS))
    ]
    assert not wrong, "\n".join(map(str, wrong[:20]))


@pytest.mark.parametrize("row", store_changes(), ids=lambda row: f"{row.option}-{row.to}")
def test_each_row_was_seen_in_the_versions_that_it_names(row: StoreChange) -> None:
    seen = {
        one.version
        for one in TRIED
        if row in one.rows and all(one.happened(d) == getattr(row, d) for d in DIRECTIONS)
    }
    assert seen == set(row.tried)
    assert (row.message is None) == ({row.forward, row.back}.isdisjoint({"migration", "refused"}))


@pytest.mark.parametrize("row", store_changes(), ids=lambda row: f"{row.option}-{row.to}")
def test_each_row_is_about_a_knob_and_has_remarks(row: StoreChange) -> None:
    assert store_remarks(CATALOGUE, CATALOGUE.knob(row.option))
    assert row.when.keys() <= {knob.name for knob in CATALOGUE.knobs}


@pytest.mark.parametrize(
    ("change", "version", "one_way", "refused"),
    [
        ({"num_levels": 6}, "11.8.1", False, True),
        ({"num_levels": 6}, "11.8.1", True, False),
        ({"num_levels": 8}, "11.8.1", False, True),
        ({"ttl_seconds": 1}, "11.8.1", False, False),
        ({"compaction_style": 1}, "11.8.1", False, False),
    ],
)
def test_rules_refuse_what_the_store_of_the_baseline_does_not_survive(
    change: Settings, version: str, one_way: bool, refused: bool
) -> None:
    dynamic = {"level_compaction_dynamic_level_bytes": True}
    base = {"num_levels": 7, "compaction_style": 0, "ttl_seconds": 86400, **dynamic}
    settings = base | change
    context = Context(base, open_files=1000, version=version)
    found = [
        rule
        for rule in existing_rules(one_way=one_way)
        if applies(rule, settings, version) and rule.broken(settings, context)
    ]
    assert bool(found) is refused
