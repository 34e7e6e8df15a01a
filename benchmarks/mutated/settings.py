"""Readers of settings: study files, experiments, and the values of flags."""

import json
from contextlib import suppress
from itertools import islice
from pathlib import Path

from lsmtune.api.consent import nobody_to_ask
from lsmtune.api.plan import Plan, plan_document
from lsmtune.api.resolve import Request, given_settings
from lsmtune.api.resolve_experiment import resolve_sweep
from lsmtune.api.sweep import plan as plan_sweep
from lsmtune.cli import sweep_lines
from lsmtune.cli.plan_lines import plan_lines
from lsmtune.engines.base import EngineFacts
from lsmtune.errors import UserError
from lsmtune.limits import parse_limit
from lsmtune.optimizers.registry import make_optimizer
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import Ground, StudySettings, catalogue_of, make_spec
from lsmtune.study.enough_data import per_flush, too_few
from lsmtune.study.opening import check_files
from lsmtune.trials import Base
from lsmtune.units import parse_duration_s, parse_scale, parse_size
from mutated.reader import CAPTURED, Reader, argument, command, texts, write_file

OPTIONS = (CAPTURED / "rocksdb-7.8.3-level" / "OPTIONS").read_text()
FACTS = EngineFacts("7.8.3", "db_bench", False, OPTIONS, None)
STUDIES = (
    'study = "s"\nengine = "rocksdb"\nbase = "OPTIONS"\ncache = "32MiB"\nscale = "1/16"\n'
    'knobs = "core"\nobjective = ["write_amp", "throughput_ops_s"]\n'
    'limits = ["live_sst_bytes <= 1.1 * base", "write_p99_us <= 2000"]\nmemory = "64MiB"\n'
    'optimizer = "tpe"\ntrials = 20\nbudget = "20m"\nuntil = "stable"\nseed = 3\n'
    "early_stop = false\nbase_runs = 3\nfinalists = 5\nrepeats = 2\npairs = 6\nmax_pairs = 12\n"
    '[workload]\nname = "mix"\nnum = 100000\nkey_size = 16\nvalue_size = 400\nthreads = 2\n'
    "compression_ratio = 0.5\nskew = 3.5\nmix = { get = 0.5, put = 0.4, scan = 0.1 }\n"
    "[protocol]\nprobe_reads = 1000\nscan_length = 10\nquiet_s = 0.25\nwall_limit_s = 3600\n",
    'workload = "readwhilewriting"\nwarm_start = ["a", "all"]\ntrials = 10\n',
    '[workload]\nname = "fillrandom"\ntombstone_every = 100\ntombstone_width = 10\n'
    'tombstones = 50\n[screen]\ndesign = "sobol"\nreplicated = 5\nruns = 3\n',
    'engine = "tikv"\nscale = "1"\nknobs = "core"\n[workload]\nname = "ycsb_a"\nnum = 100000\n'
    '[tikv]\nstatus = "127.0.0.1:20180"\npd = "127.0.0.1:2379,[::1]:2380"\nconfig = "tikv.toml"\n'
    'restart = ["systemctl", "restart", "tikv"]\napi = "txn"\nmax_failed_percent = 5.0\n'
    "start_s = 60\nrefresh_s = 10\n",
    'engine = "myrocks"\nprogram = "mariadbd"\nbase = "my.cnf"\nscale = "1/4"\n'
    '[workload]\nname = "tpcc"\nwarehouses = 2\nduration_s = 60\nfamilies = true\n'
    "[online]\nwindow_s = 10.0\nwindows = 5\n",
    '[workload]\nname = "trace"\ntrace = "t"\ndatabase = "d"\n',
    'engine = "embedded"\nscale = "1"\nknobs = "store,write_buffer_size"\n[workload]\n'
    'name = "fillrandom"\nnum = 5000\nvalue_size = 100\n',
    'engine = "simulated"\ntrials = 3\nknobs = "write_buffer_size,compression_type"\n',
)
EXPERIMENT = (
    'study = "it"\nscale = "1/64"\n[workload]\nname = "fillrandom"\nnum = 5000\n'
    "[sweep]\nrepeats = 2\nmetrics = ['write_amp', 'total_s']\n"
    '[sweep.fixed]\ncompression_type = "none"\nblock_size = "8KiB"\n'
    '[sweep.factors.memtable]\nwrite_buffer_size = ["512KiB", "1MiB"]\n'
    "max_write_buffer_number = [2, 4]\n"
    "[sweep.factors.trigger]\nlevel0_file_num_compaction_trigger = [2, 4, 8]\n"
    '[sweep.labels]\nmemtable = ["small", "large"]\n'
)


def settle(spec: StudySettings, folder: Path) -> None:
    """Go as far with the settings as `tune` does before it starts the engine."""
    make_optimizer(spec.optimizer)
    check_files(spec.workload)
    catalogue = catalogue_of(spec.engine, spec.workload)
    ground = Ground(catalogue, Base(options="", settings=catalogue.defaults(1)), 1024)
    spaces = KnobSpaces(spec, ground)
    plan = Plan(FACTS, spaces, folder / "home", (), None)
    json.dumps(plan_document(plan))
    "\n".join(plan_lines(plan)).encode()
    too_few(spec.workload, per_flush(spec.engine, spaces.at().base), spec.parsed_objective.needed)
    json.dumps([spec.identity(), spec.name])


def _study(data: bytes, folder: Path) -> None:
    path = write_file(data, folder, "study.toml")
    given = given_settings(Request(study_file=path), nobody_to_ask)
    if str(given.get("knobs")).startswith(("top:", "lasso:")):
        return  # ranks knobs for minutes
    settle(make_spec(given, str(path), {}), folder)


def _experiment(data: bytes, folder: Path) -> None:
    path = write_file(data, folder, "study.toml")
    request = Request(study_file=path, keys={"program": "db_bench"})
    spec = resolve_sweep(request, folder / "home").settings
    "\n".join(sweep_lines.plan_lines(plan_sweep(spec))).encode()
    catalogue = catalogue_of(spec.engine, spec.workload)
    if spec.sweep is not None:
        for cell in islice(spec.sweep.cells(), 20):
            spec.sweep.values(cell, catalogue)
        spec.sweep.fixed_values(catalogue)
    settle(spec, folder)


def _goals(data: bytes, folder: Path) -> None:
    """Flags of `tune`: an objective and a constraint per line."""
    objective, *limits = argument(data).split("\n")
    for text in limits:
        with suppress(UserError):
            str(parse_limit(text))
    given = {"objective": [objective], "limits": limits}
    flags = {"objective": "--objective", "limits": "--limit"}
    settle(make_spec(given, "lsmtune tune", flags), folder)


def _quantity(data: bytes, folder: Path) -> None:
    text = argument(data)
    for parse in (parse_size, parse_duration_s, parse_scale):
        with suppress(UserError):
            parse(text, "--flag")
    flags = {"cache": "--cache", "memory": "--memory", "budget": "--budget", "scale": "--scale"}
    for key in flags:
        with suppress(UserError):
            settle(make_spec({key: text}, "lsmtune tune", flags), folder)


def _knob_list(data: bytes, folder: Path) -> None:
    text = argument(data)
    for given in ({"knobs": text}, {"optimizer": text}, {"workload": text}, {"study": text}):
        with suppress(UserError):
            settle(make_spec(given, "lsmtune tune", {key: f"--{key}" for key in given}), folder)


def _set(data: bytes, folder: Path) -> None:
    changes = argument(data).split("\n")
    flags = [part for change in changes for part in ("--set", change)]
    command("simulate", "--num", "20000", "--home", folder / "home", *flags)


READERS = {
    "study_file": Reader(_study, texts(*STUDIES)),
    "experiment_file": Reader(_experiment, texts(EXPERIMENT)),
    "objective_and_limits": Reader(
        _goals,
        texts(
            "write_amp\nlive_sst_bytes <= 1.1 * base\nwrite_p99_us <= 2000",
            "balanced\nlive_sst_bytes <= 300MiB\nget_p99_us <= none\n"
            "throughput_ops_s >= 0.9 * base",
            "throughput_ops_s\nsettle_s <= 1.5e3",
        ),
    ),
    "sizes_and_times": Reader(
        _quantity, texts("64MiB", "1.5 GB", "4096", "90s", "1.5h", "1/64", "0.125")
    ),
    "names_and_lists": Reader(
        _knob_list,
        texts(
            "core",
            "block_size,write_buffer_size,bloom_bits",
            "guided",
            "readwhilewriting",
            "my-study.1",
        ),
    ),
    "set": Reader(
        _set,
        texts(
            "write_buffer_size=64MiB\ncompaction_style=universal",
            "bloom_bits=10\nblock_size=8KiB\ncompression_type=zstd",
            "max_bytes_for_level_multiplier=8.5\nnum_levels=5",
        ),
    ),
}
