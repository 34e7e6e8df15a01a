"""Options and rules on the oldest and the newest RocksDB that is installed."""

from collections.abc import Iterator

import pytest

from fakes.driving import FLUSH, NEEDS_DRIVER, REPORT, group, run
from fakes.installed import OLDEST_AND_NEWEST
from fakes.opening import OPEN_FILES, Opener, others
from knobs.rule_cases import REFUSED, SILENTLY_CHANGED
from lsmtune.engines.libraries.installed import Installed
from lsmtune.engines.rocksdb.options import option_string, rendered_options
from lsmtune.knobs.constraints import Context, normalise, refusals
from lsmtune.knobs.defaults import version_number
from lsmtune.knobs.types import Settings
from lsmtune.metrics.statistics import parse_statistics

pytestmark = [NEEDS_DRIVER, OLDEST_AND_NEWEST, pytest.mark.slow]


@pytest.fixture(scope="module")
def opener(engine: Installed, tmp_path_factory: pytest.TempPathFactory) -> Opener:
    return Opener(engine, tmp_path_factory.mktemp("stores"))


def together(opener: Opener) -> Iterator[Settings]:
    """A value other than the default for each knob, as many at once as the rules allow."""
    context = Context(opener.base, OPEN_FILES, version=opener.version)
    left = {knob.name: others(knob, opener.base[knob.name])[0] for knob in opener.knobs}
    needed = {knob.name: {n: v[0] for n, v in knob.when.items()} for knob in opener.knobs}
    while left:
        chosen: Settings = {}
        for name, value in left.items():
            wider = {**chosen, **needed[name], name: value}
            given = opener.base | wider
            agrees = all(wider[key] == old for key, old in chosen.items())
            if agrees and not refusals(given, context) and normalise(given, context) == given:
                chosen = wider
        if not chosen.keys() & left.keys():
            break
        yield chosen
        left = {name: value for name, value in left.items() if name not in chosen}
    yield from ({name: value} for name, value in left.items())


def test_defaults_come_back_as_they_were(opener: Opener) -> None:
    assert opener.open(option_string(opener.defaults)).options == opener.defaults


def test_every_knob_is_read_back_or_a_rule_says_why_not(opener: Opener) -> None:
    found = [fault for settings in together(opener) for fault in opener.faults(settings)]
    assert found == []


def test_the_rules_are_those_of_this_version(opener: Opener) -> None:
    cases = [*SILENTLY_CHANGED, *REFUSED]
    known = [{n: v for n, v in case.items() if n in opener.base} for case in cases]
    assert [fault for settings in known for fault in opener.faults(settings)] == []


def test_the_catalogue_has_the_knobs_that_this_version_prints(opener: Opener) -> None:
    number = version_number(opener.version)
    for knob in opener.knobs:
        assert version_number(knob.since) <= number
        assert knob.until is None or number <= version_number(knob.until)


def test_filters_have_the_bits_that_were_set(opener: Opener) -> None:
    num = 100_000
    load = run("load", group(operations=num // 10, seed=1), num=num)
    gets = run("gets", group("get", operations=num // 10, seed=2), num=num)
    found = {}
    for bits in (2, 10):
        text = rendered_options(opener.catalogue, opener.defaults, {"bloom_bits": bits})
        driven = opener.run(option_string(text), load, FLUSH, gets, REPORT)
        tickers = parse_statistics(driven.one("report")["statistics"]).tickers
        found[bits] = tickers["rocksdb.bloom.filter.useful"]
    assert found[10] > 1.3 * found[2] > 0
