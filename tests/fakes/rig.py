"""An engine with its base and its folders, as a study puts them together."""

from dataclasses import dataclass, field
from pathlib import Path

from lsmtune.engines.base import Engine, Outcome, Places, Watch
from lsmtune.engines.registry import engine_of, make_engine
from lsmtune.knobs.types import Settings
from lsmtune.spaces import knob_space
from lsmtune.spec import StudySettings
from lsmtune.study.opening import describe
from lsmtune.trials import Protocol, Running, TrialSpec
from lsmtune.workloads import Workload


@dataclass
class Rig:
    """An engine under the settings of a study; every run has a folder of its own.

    `protocol` is what its runs have of their own in their protocol.
    """

    program: str
    folder: Path
    spec: StudySettings = field(default_factory=StudySettings)
    protocol: dict[str, float] = field(default_factory=dict)
    runs: int = 0

    def __post_init__(self) -> None:
        self.engine = _engine(self.spec, self.program)
        self.facts, self.ground = describe(self.spec, self.engine, self.folder)
        self.space = knob_space(self.spec, self.ground)
        self.base: Settings = self.space.settings(self.space.default())

    def run(
        self,
        settings: Settings | None = None,
        workload: Workload | None = None,
        watch: Watch | None = None,
        seed: int = 7,
        running: Running | None = None,
        **limits: float,
    ) -> Outcome:
        """Run one trial."""
        self.runs += 1
        workdir = self.folder / f"run{self.runs}"
        workdir.mkdir(parents=True, exist_ok=True)
        trial = TrialSpec(
            settings=self.base if settings is None else settings,
            base_settings=self.base,
            workload=workload or self._load(),
            protocol=Protocol(**({"probe_reads": 500} | self.protocol | limits)),
            seed=seed,
            running=running,
        )
        watch = watch or Watch(lambda phase: None)
        places = Places(workdir, self.folder / "templates")
        return self.engine.run(trial, self.ground.base, places, watch)

    def _load(self) -> Workload:
        """The study's own load; a small one where it is db_bench's."""
        return Workload(num=20_000) if self.spec.engine == "rocksdb" else self.spec.workload


def _engine(spec: StudySettings, program: str) -> Engine:
    if spec.library is not None or spec.rocksdb is not None:
        return engine_of(spec)
    return make_engine(spec.engine, program, spec.engine_settings)
