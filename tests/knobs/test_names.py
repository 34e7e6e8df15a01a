"""Names of options: each engine takes its own apart, and puts them together again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.engine_traits import ENGINES
from lsmtune.knobs.catalogue import Catalogue
from lsmtune.knobs.families import PLAIN, Names, knob_name
from lsmtune.workloads.sql import LOOKUP_FAMILIES

CATALOGUES = {
    name: ENGINES[name].catalogue().with_families(LOOKUP_FAMILIES) for name in ENGINES.built_in
}
WORDS = st.from_regex(r"[a-z][a-z0-9_]{0,20}", fullmatch=True)
SLASHED = Names(
    lambda name: (None, name) if "/" not in name else (name.split("/")[0], name.split("/")[1]),
    lambda option, family: (option if family is None else f"{family}/{option}",),
)
"""The names of an engine of another package."""


@pytest.mark.parametrize("catalogue", CATALOGUES.values(), ids=CATALOGUES)
def test_every_knob_of_an_engine_comes_apart_and_together(catalogue: Catalogue) -> None:
    names = catalogue.names
    known = dict.fromkeys(knob.name for knob in catalogue.knobs)
    for name in known:
        family, option = names.split(name)
        assert (names.family(name), names.option(name)) == (family, option)
        assert name in names.join(option, family)
        assert names.lifted_name(option, family, known) == name


@given(data=st.data(), engine=st.sampled_from(sorted(CATALOGUES)))
def test_a_view_of_some_knobs_leads_back_to_the_same_settings(
    data: st.DataObject, engine: str
) -> None:
    catalogue = CATALOGUES[engine]
    names, every = catalogue.names, [knob.name for knob in catalogue.knobs]
    settings = {name: at for at, name in enumerate(data.draw(st.lists(st.sampled_from(every))))}
    found: dict[str, int] = {}
    for family in names.families(settings):
        seen = names.view(settings, family)
        assert {names.option(n) for n in settings if names.family(n) is None} <= seen.keys()
        found |= names.lifted(seen, family, settings)
    assert found == settings


@given(option=WORDS, family=st.none() | WORDS, names=st.sampled_from((PLAIN, SLASHED)))
def test_any_name_comes_apart_and_together(option: str, family: str | None, names: Names) -> None:
    (name,) = names.join(option, family)
    assert names.split(name) == (family, option)
    assert names.view({name: 1}, family) == {option: 1}
    assert names.lifted({option: 2}, family, {name: 1}) == {name: 2}


@given(name=WORDS, family=WORDS)
def test_only_tikv_has_the_names_of_tikv(name: str, family: str) -> None:
    theirs = f"rocksdb.{family}cf.write-buffer-size"
    assert CATALOGUES["tikv"].names.split(theirs) == (f"rocksdb.{family}cf", "write_buffer_size")
    assert PLAIN.split(theirs) == (f"rocksdb.{family}cf", "write-buffer-size")
    assert PLAIN.split(knob_name(family, name)) == (family, name)
