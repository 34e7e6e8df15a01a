"""Open the files that lsmtune would export, and compare RocksDB's options with those of the trials.

    .venv/bin/python benchmarks/exported_files.py [--configs 1000] [--searches 40] [--seed 1]

For random configs of each preset that searches by default, and for the winners of searches on the
simulator: RocksDB opens a store with the options of the full-size config and writes them down. Each
tuned option must have the value of the trial, times 1 / scale for sizes, to one byte of the trial.
The memory of the full-size tree must not exceed that of the baseline. Baselines: the defaults of
RocksDB, and OPTIONS files with memtables of 64 KiB, 1 MiB and 1 GiB. Prints a line per preset and
baseline. The exit code is 1 if a file differs.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from opened import open_study  # noqa: E402

from fakes.opening import Opener  # noqa: E402 - after the path
from lsmtune.cli.main import run  # noqa: E402
from lsmtune.engine_traits import ENGINES  # noqa: E402
from lsmtune.engines.libraries.installed import (  # noqa: E402
    engine_of_version,
    engines_folder,
    installed_engines,
)
from lsmtune.engines.libraries.pins import DEFAULT_VERSION  # noqa: E402
from lsmtune.engines.read_back import is_as_wanted  # noqa: E402
from lsmtune.engines.registry import engine_of  # noqa: E402
from lsmtune.engines.rocksdb.option_string import option_string  # noqa: E402
from lsmtune.engines.rocksdb.options import (  # noqa: E402
    read_settings,
    rendered_options,
    with_filter_bits,
)
from lsmtune.knobs.full_size import SHARD_BITS  # noqa: E402
from lsmtune.knobs.memory import memory  # noqa: E402
from lsmtune.knobs.types import Config, Settings  # noqa: E402
from lsmtune.limits import no_default_limits  # noqa: E402
from lsmtune.metrics.options_file import replace_options  # noqa: E402
from lsmtune.rescale import rescaled  # noqa: E402
from lsmtune.spaces import KnobSpaces, knob_space, with_fitting_scale  # noqa: E402
from lsmtune.spec import Ground, StudySettings, make_spec  # noqa: E402
from lsmtune.store.home import Home  # noqa: E402
from lsmtune.study.opening import describe, rule_of_new  # noqa: E402
from lsmtune.study.search import run_search  # noqa: E402
from lsmtune.workloads import Workload  # noqa: E402

WORKLOADS = {
    "core": "fillrandom", "mixed": "readrandomwriterandom", "reads": "readrandom",
    "write-path": "fillrandom", "space": "fillrandom",
}  # fmt: skip
"""Presets that search at least one workload by default, or that users name, with a workload."""
MEMTABLES = (None, 64 << 10, 1 << 20, 1 << 30)
NUM = 200_000


@dataclass(frozen=True, slots=True)
class Case:
    """A study with a preset on a baseline."""

    name: str
    spec: StudySettings
    ground: Ground


def case(preset: str, memtable: int | None, opener: Opener, folder: Path) -> Case:
    """Return a study whose baseline has memtables of this size (None: RocksDB's default)."""
    given = {"workload": {"name": WORKLOADS[preset], "num": NUM}, "knobs": preset,
             "rocksdb": opener.version}  # fmt: skip
    if memtable is not None:
        place = 'CFOptions "default"', "write_buffer_size"
        file = folder / f"OPTIONS-{memtable}"
        file.write_text(replace_options(opener.defaults, {place: str(memtable)}))
        given |= {"base": str(file)}
    spec = make_spec(given, "exported files")
    _, ground = describe(spec, engine_of(spec), folder, rule_of_new(spec))
    spec, _ = with_fitting_scale(spec, ground)
    size = "default" if memtable is None else f"{memtable >> 10} KiB"
    return Case(f"{preset}, memtables {size}, scale {spec.scale}", spec, ground)


def faults(found: Case, config: Config, opener: Opener) -> Iterator[str]:
    """Yield the options that the file has otherwise than the trial, and too much memory."""
    spec, ground = found.spec, found.ground
    space = knob_space(spec, ground)
    full = rescaled(KnobSpaces(spec, ground), config, Fraction(1)).settings
    text = rendered_options(ground.catalogue, ground.base.options, full)
    yield from opened_faults(found, config, list(config), text, opener)
    whole = space.full_size
    limit = memory(whole.settings(whole.default()), whole.memory.records).total
    if (used := memory(full, whole.memory.records).total) > limit:
        yield f"memory: {used} bytes, and the baseline has {limit}"


def opened_faults(
    found: Case, config: Config, names: list[str], text: str, opener: Opener
) -> Iterator[str]:
    """Open a store with a file; yield the named options that differ from those of the trial."""
    spec, ground = found.spec, found.ground
    space = knob_space(spec, ground)
    trial, full = (
        space.settings(config),
        rescaled(KnobSpaces(spec, ground), config, Fraction(1)).settings,
    )
    opened = opener.open(option_string(text))
    if opened.refusal:
        yield f"RocksDB refuses the file: {opened.refusal}"
        return
    ran = read_settings(ground.catalogue, with_filter_bits(opened.options, text)) | {
        name: value for name, value in full.items() if ground.catalogue.knob(name).option is None
    }
    sizes = {} if space.full is None else space.full.sizes
    for name in names:
        if name != SHARD_BITS and not _is_the_trial_s(name, trial, ran, sizes, spec.scale_value):
            yield f"{name}: the trial ran {trial[name]}, the file has {ran.get(name)}"


def _is_the_trial_s(
    name: str, trial: Settings, ran: Settings, sizes: object, scale: Fraction
) -> bool:
    """Return whether the file has the value of the trial at full size, to one byte of the trial."""
    wanted, actual = trial[name], ran.get(name)
    if isinstance(sizes, dict) and name in sizes and wanted not in sizes[name].special_values:
        return abs(Fraction(actual or 0) * scale - Fraction(wanted)) <= 1
    return is_as_wanted(name, wanted, actual)


def search_faults(seed: int, opener: Opener, folder: Path) -> list[str] | None:
    """Search on the simulator, export the winner, open the file; None without a winner."""
    load = Workload(num=NUM)
    given = {"engine": "simulated", "study": f"s{seed}", "seed": seed, "knobs": "core",
             "workload": load.model_dump(), "trials": 16, "pairs": 0, "optimizer": "random",
             "limits": no_default_limits(load, ENGINES["simulated"])}  # fmt: skip
    spec = make_spec(given, "exported files")
    with (
        Home(folder / "home", create=True) as home,
        open_study(home, spec, engine_of(spec)) as study,
    ):
        run_search(study)
        best, ground, base = study.best(), study.ground, study.space.default()
    if best is None:
        return None
    own, file = folder / "OPTIONS-of-user", folder / f"OPTIONS-{seed}"
    own.write_text(opener.defaults)
    command = ["export", f"s{seed}", "--home", str(folder / "home"), "--base", str(own)]
    if run([*command, "--format", "options", "-o", str(file)]) != 0:
        return ["lsmtune export failed"]
    found, config = Case(f"search {seed}", spec, ground), best.trial.config
    changed = [name for name in config if config[name] != base[name]]
    return list(opened_faults(found, config, changed, file.read_text(), opener))


def main() -> None:
    """Check the configs of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--configs", type=int, default=1000)
    parser.add_argument("--searches", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    installed = engine_of_version(installed_engines(engines_folder()), DEFAULT_VERSION)
    if installed is None:
        sys.exit(f"RocksDB {DEFAULT_VERSION} is not installed; lsmtune engines install rocksdb")
    total = 0
    with tempfile.TemporaryDirectory() as folder:
        opener = Opener(installed, Path(folder))
        for memtable in MEMTABLES:
            for preset in WORKLOADS:
                found = case(preset, memtable, opener, Path(folder))
                space, rng = knob_space(found.spec, found.ground), np.random.default_rng(asked.seed)
                count = asked.configs if memtable is None else max(1, asked.configs // 20)
                total += report(found, [space.sample(rng) for _ in range(count)], opener)
        searched = [
            search_faults(seed, opener, Path(folder)) for seed in range(1, asked.searches + 1)
        ]
        wrong = [line for lines in searched for line in lines or ()]
        print(f"searches on the simulator: {sum(lines is not None for lines in searched)} files, "
              f"{len(wrong)} differences")  # fmt: skip
        print("".join(f"  {line}\n" for line in wrong[:5]), end="")
        total += len(wrong)
    sys.exit(int(total > 0))


def report(found: Case, configs: list[Config], opener: Opener) -> int:
    """Print the faults of the configs and their number; return the number."""
    lines = [line for config in configs for line in faults(found, config, opener)]
    print(f"{found.name}: {len(configs)} files, {len(lines)} differences", flush=True)
    print("".join(f"  {line}\n" for line in lines[:5]), end="", flush=True)
    return len(lines)


if __name__ == "__main__":
    main()
