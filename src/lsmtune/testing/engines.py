"""What every engine has to do."""

from collections.abc import Iterator
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lsmtune.engine_traits import ENGINES
from lsmtune.engines.base import Outcome, Places, Watch
from lsmtune.engines.entry import EngineEntry, checked_entry
from lsmtune.engines.exports import Export
from lsmtune.engines.registry import engine_of
from lsmtune.errors import UserError
from lsmtune.knobs.types import Settings
from lsmtune.metrics.definitions import with_formulas
from lsmtune.progress import Observer
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import StudySettings, make_spec
from lsmtune.study.opening import Prepared, prepare
from lsmtune.trials import Status, TrialSpec
from lsmtune.workloads import Workload


class EngineConformance:
    """The tests of an engine. A subclass gives the fixture `entry`.

    Trials have the keys of `keys`: a subclass may return others, for instance a smaller workload.
    """

    def keys(self, entry: EngineEntry) -> dict[str, Any]:
        """Return the keys of a study with short trials."""
        return {"engine": entry.name, "workload": {"name": entry.workload_names[0]}}

    @pytest.fixture(autouse=True)
    def known(self, entry: EngineEntry, monkeypatch: pytest.MonkeyPatch) -> None:
        """Make this process use the entry for its name, if no installed package offers it."""
        if ENGINES.get(entry.name) is not entry:
            monkeypatch.setitem(ENGINES, entry.name, entry)

    @pytest.fixture
    def spec(self, entry: EngineEntry, known: None) -> StudySettings:
        """Return the settings of a study with short trials."""
        return make_spec(self.keys(entry), "the conformance tests")

    @pytest.fixture
    def prepared(self, spec: StudySettings, tmp_path: Path) -> Prepared:
        """Return the engine, started once, with its baseline and its knob spaces."""
        return prepare(spec, tmp_path / "home", Observer(), engine=engine_of(spec))

    def test_the_entry_is_accepted(self, entry: EngineEntry) -> None:
        assert checked_entry(entry.name, entry) is entry
        assert entry.summary
        assert "\n" not in entry.summary
        assert entry.program

    def test_all_its_workloads_have_complete_defaults(self, entry: EngineEntry) -> None:
        for name in entry.workload_names:
            made = make_spec({"engine": entry.name, "workload": name}, "")
            assert made.engine == entry.name
            assert made.program == entry.program
            assert entry.catalogue().select(made.knobs)
        default = make_spec({"engine": entry.name}, "")
        assert default.workload.name == entry.workload_names[0]

    def test_its_workloads_are_stored_and_read_again(self, entry: EngineEntry) -> None:
        for name in entry.workload_names:
            load = make_spec({"engine": entry.name, "workload": name}, "").workload
            assert Workload.model_validate_json(load.model_dump_json()) == load
            assert load.definition.what
            assert "\n" not in load.definition.what
            assert load.user_bytes >= (load.written_bytes or 0) >= 0
            assert (load.distinct_bytes or 0) >= 0

    def test_its_knobs_have_its_name_and_names_of_their_own(self, entry: EngineEntry) -> None:
        catalogue = entry.catalogue()
        assert catalogue.engine == entry.name
        names = [knob.name for knob in catalogue.knobs]
        assert len(names) == len(set(names))
        formats = {form.name for form in entry.exports}
        for knob in catalogue.knobs if "db_bench" not in formats else ():
            assert not knob.flag, f"{knob.name}: flag=False, because db_bench has no such flag"

    def test_names_of_knobs_come_apart_and_together(self, entry: EngineEntry) -> None:
        catalogue = entry.catalogue()
        for knob in catalogue.knobs:
            family, option = catalogue.names.split(knob.name)
            assert knob.name in catalogue.names.join(option, family)

    def test_its_rules_leave_configs_to_try(self, prepared: Prepared) -> None:
        space = prepared.spaces.at()
        rng = np.random.default_rng(1)
        for config in (space.default(), *(space.sample(rng) for _ in range(10))):
            assert space.violations(config) == []
            assert space.canonical(config) == config

    def test_it_says_what_runs(self, prepared: Prepared) -> None:
        assert prepared.facts.version
        assert prepared.facts.program
        base = prepared.ground.base
        assert base.settings
        for knob in prepared.engine.catalogue.knobs:
            assert knob.name not in base.settings or knob.accepts(base.settings[knob.name])

    def test_the_baseline_is_measured(
        self, entry: EngineEntry, prepared: Prepared, tmp_path: Path
    ) -> None:
        phases: list[str] = []
        outcome = _run(prepared, {}, tmp_path, phases)
        assert outcome.result.status is Status.COMPLETE, outcome.result.reason
        metrics = with_formulas(outcome.result.metrics, entry.own_metrics)
        assert set(prepared.spec.parsed_objective.needed) <= metrics.keys()
        assert set(entry.measured or ()) <= metrics.keys()
        assert all(isfinite(value) for value in metrics.values())
        assert phases
        for file in outcome.evidence.values():
            assert file.is_relative_to(tmp_path)
            assert file.exists()

    def test_equal_runs_are_equal_if_times_do_not_matter(
        self, prepared: Prepared, tmp_path: Path
    ) -> None:
        if prepared.engine.times_matter:
            pytest.skip("the engine measures times")
        one, other = (_run(prepared, {}, tmp_path / name).result for name in ("one", "other"))
        assert one.metrics == other.metrics

    def test_every_end_of_a_range_is_a_trial(self, prepared: Prepared, tmp_path: Path) -> None:
        """A config may fail, as a result; an exception would end the study."""
        for number, settings in enumerate(_ends(prepared.spaces)):
            result = _run(prepared, settings, tmp_path / str(number)).result
            assert result.status in Status
            assert (result.measurement is None) == result.status.failed
            assert result.reason or not result.status.failed

    def test_its_formats_export_a_change(self, entry: EngineEntry, prepared: Prepared) -> None:
        space = prepared.spaces.at()
        old = space.settings(space.default())
        new = next(settings for settings in _ends(prepared.spaces) if settings != old)
        tuned = tuple(knob.name for knob in space.knobs)
        for form in entry.exports:
            try:
                file = form.user_file(prepared.spec, prepared.ground.base, None)
            except UserError:
                continue  # it needs a file of the user
            export = Export(
                spec=prepared.spec,
                ground=prepared.ground,
                tuned=tuned,
                old=old,
                new=new,
                written={name: new[name] for name in tuned if new[name] != old[name]},
                file=file,
                named=False,
                heading="lsmtune, study s: a change",
            )
            text = form.write(export).text
            assert text.endswith("\n")
            assert text != form.write(replace(export, new=old, written={})).text


def _ends(spaces: KnobSpaces) -> Iterator[Settings]:
    """Yield the baseline with one knob at one end of its range, or at one of its choices."""
    space = spaces.at()
    for knob in space.knobs:
        ends = knob.bounds() if knob.is_range else (knob.drawn[0], knob.drawn[-1])
        for end in ends:
            value = knob.rounded(end) if knob.is_range and not isinstance(end, str) else end
            config = {**space.default(), knob.name: value}
            if not space.violations(config):
                yield space.settings(config)


def _run(
    prepared: Prepared, settings: Settings, folder: Path, phases: list[str] | None = None
) -> Outcome:
    """Run a trial with these settings, and those of the baseline for all others."""
    workdir = folder / "work"
    workdir.mkdir(parents=True)
    space = prepared.spaces.at()
    base = space.settings(space.default())
    spec = TrialSpec(
        settings={**base, **settings},
        base_settings=base,
        workload=prepared.spec.workload,
        protocol=prepared.spec.protocol,
        seed=7,
    )
    watch = Watch((phases if phases is not None else []).append)
    places = Places(workdir, folder / "templates")
    return prepared.engine.run(spec, prepared.ground.base, places, watch)
