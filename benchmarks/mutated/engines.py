"""Readers of what engines give: options and config files, metrics, outputs of load programs."""

import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fakes.fake_tikv import DEFAULTS, METRICS
from fakes.tikv_site import FILE as TIKV_TOML
from lsmtune.api.plan import Plan
from lsmtune.cli.plan_lines import plan_lines
from lsmtune.engines.base import OwnBase, TrialFailedError
from lsmtune.engines.myrocks import loads
from lsmtune.engines.myrocks import options as my_cnf
from lsmtune.engines.rocksdb.db_bench import DbBench
from lsmtune.engines.rocksdb.engine import RocksDB
from lsmtune.engines.rocksdb.options import rendered_options
from lsmtune.engines.simulated.engine import Simulated
from lsmtune.engines.tikv import measure, status
from lsmtune.engines.tikv import options as tikv
from lsmtune.engines.tikv.status import StatusServer
from lsmtune.errors import ParseError, UserError
from lsmtune.knobs.catalogue import load
from lsmtune.knobs.tikv_toml import parse_file
from lsmtune.metrics.compaction_table import parse_compaction_tables, parse_stall_summary
from lsmtune.metrics.db_bench import parse_banner, parse_results
from lsmtune.metrics.db_bench_runs import parse_runs
from lsmtune.metrics.go_ycsb import parse_go_ycsb
from lsmtune.metrics.statistics import parse_statistics
from lsmtune.reading import read_text
from lsmtune.report.text.baseline_text import baseline_lines
from lsmtune.spaces import KnobSpaces
from lsmtune.spec import Ground, StudySettings
from lsmtune.workloads import Workload
from mutated.homes import stored_home
from mutated.reader import (
    CAPTURED,
    DATA,
    ENGINES_OUTPUT,
    ROOT,
    Reader,
    command,
    commands,
    texts,
    write_file,
)
from mutated.settings import FACTS, OPTIONS


class _NotStarted(DbBench):
    """A db_bench that is not started: options count as they are written."""

    def as_run(self, options: str, workdir: Path) -> str:
        return options


def _options(data: bytes, folder: Path) -> None:
    path = write_file(data, folder, "OPTIONS")
    own = OwnBase(read_text(path, f"base: {path}"), "default")
    for engine in (RocksDB(_NotStarted("db_bench")), Simulated()):
        with suppress(UserError):
            base = engine.base(FACTS, own, folder)
            "\n".join(baseline_lines(base, verbose=True)).encode()
            spec = StudySettings(base=str(path), engine=engine.name)  # type: ignore[arg-type]
            spaces = KnobSpaces(spec, Ground(engine.catalogue, base, 1024))
            space = spaces.at()
            "\n".join(plan_lines(Plan(FACTS, spaces, folder, (), None))).encode()
            if engine.name == "rocksdb":
                rendered_options(engine.catalogue, base.options, space.settings(space.default()))


def _exported(study: str, form: str, data: bytes, folder: Path) -> None:
    home = stored_home(folder)
    path = write_file(data, folder, "base")
    flags = ("--format", form, "--base", path, "--home", home, "--trial", "1")
    commands(("export", study, *flags), ("export", study, *flags, "--back"))


def _with_exported(study: str, form: str, base: bytes) -> list[bytes]:
    """Return a base and the file that a study exports for it: `--back` takes only this one."""
    with TemporaryDirectory() as folder:
        path, home = write_file(base, Path(folder)), stored_home(Path(folder))
        flags = ("--format", form, "--base", path, "--home", home, "--trial", "1")
        return [base, command("export", study, *flags).encode()]


def _my_cnf(data: bytes, folder: Path) -> None:
    path = write_file(data, folder, "my.cnf")
    text = read_text(path, f"base: {path}")
    given = my_cnf.read_base(text)
    "\n".join(my_cnf.left_out(text)).encode()
    options = my_cnf.with_filter(OPTIONS_OF_MYROCKS, given)
    catalogue = load("myrocks")
    settings = my_cnf.read_settings(catalogue, options, given)
    my_cnf.variables_of(catalogue, options, settings, given, catalogue.defaults(1))
    my_cnf.read_base(my_cnf.as_my_cnf(given))


OPTIONS_OF_MYROCKS = (CAPTURED / "myrocks-6.29-OPTIONS").read_text()
MY_CNF = (
    "[client]\nuser=me\n[mysqld]\nport=3306\nplugin-load-add = ha_rocksdb\n"
    "rocksdb_block_cache_size=536870912\nrocksdb-max-background-jobs = 4\n"
    "loose_rocksdb_wal_dir=/x\n"
    "rocksdb_default_cf_options='write_buffer_size=64m;compression=kZSTD;"
    "block_based_table_factory={block_size=16k;filter_policy=bloomfilter:10:false;}'\n"
    "rocksdb_override_cf_options=cf1={write_buffer_size=8388608;prefix_extractor=capped:12};"
    "rev:cf2={compression_per_level=kNoCompression:kLZ4Compression}\n"
    "rocksdb_use_direct_reads=ON\nrocksdb_bytes_per_sync\n!includedir /etc/mysql/conf.d\n"
)


def _tikv_toml(data: bytes, folder: Path) -> None:
    path = write_file(data, folder, "tikv.toml")
    text = read_text(path, f"base: {path}")
    store = tikv.of_store(text, "base")
    tikv.read_settings(load("tikv"), parse_file(store, "base"))
    tikv.with_store(text, tikv.of_store(TIKV_TOML, "base"))
    tikv.with_store(TIKV_TOML, store)


class _Answering(StatusServer):
    """A status server that answers everything with one text."""

    def __init__(self, text: str) -> None:
        super().__init__("127.0.0.1:20180")
        self._text = text

    def _ask(self, method: str, path: str, body: str | None = None) -> tuple[int, str]:
        return 200, self._text


def _tikv_config(data: bytes, folder: Path) -> None:
    told = _Answering(data.decode(errors="replace")).config()
    catalogue = load("tikv")
    settings = tikv.read_settings(catalogue, told)
    json.dumps([settings, tikv.as_run(catalogue, told), tikv.largest_cache(told)])
    tikv.cache_fits(settings, told)


def _prometheus(data: bytes, folder: Path) -> None:
    counted = _Answering(data.decode(errors="replace")).metrics()
    before = _Answering(_metrics_text()[0].decode()).metrics()
    for moment in (counted, counted.since(before)):
        measure.write_metrics(moment, 2.0)
        measure.cpu_metrics(moment)
        measure.read_metrics(moment)
        measure.live_bytes(moment)
        measure.stalls(moment)
        measure.version(moment)
        measure.records(moment)
        measure.transactional(moment)
        status.is_busy(moment)


def _metrics_text() -> list[bytes]:
    names = ("written", "flushed", "compacted", "reads", "missed", "running", "started", "keys",
             "live", "written_keys", "now", "hits", "cpu")  # fmt: skip
    info = 'tikv_server_info{hash="0ff1ce",version="8.5.3"} 1763800000\n'
    return [(info + METRICS.format(**dict.fromkeys(names, 12345.5))).encode()]


_YCSB_ROW = (
    "{}- Takes(s): 5.3, Count: 49899, OPS: 9466.9, Avg(us): 187, Min(us): 3, Max(us): 232831, "
    "50th(us): 19, 90th(us): 42, 95th(us): 61, 99th(us): 3099, 99.9th(us): 31567, "
    "99.99th(us): 131455"
)


def _ycsb_text() -> list[bytes]:
    rows = [_YCSB_ROW.format(name) for name in ("READ ", "UPDATE ", "READ_ERROR ")]
    end = "threadcount=8\nRun finished, takes 1m5.271675527s\n"
    told = []
    for row in rows:
        name, _, values = row.partition("- ")
        pairs = (part.split(": ") for part in values.split(", "))
        told.append({"Operation": name.strip(), **dict(pairs)})
    return [(end + "\n".join(rows) + "\n").encode(), f"{end}{json.dumps(told)}\n".encode()]


def _go_ycsb(data: bytes, folder: Path) -> None:
    run = parse_go_ycsb(data.decode(errors="replace"))
    json.dumps([run.metrics(), run.errors, run.failed_percent, run.operations])


def _sysbench(data: bytes, folder: Path) -> None:
    text = data.decode(errors="replace")
    with suppress(TrialFailedError):
        json.dumps(loads.read_check(text))
    for name in ("oltp_write_only", "tpcc", "lookup", "fillrandom"):
        with suppress(TrialFailedError):
            run = loads.read_run(Workload(name=name, threads=2), text)
            json.dumps([run.metrics(), run.latency_metrics()])


def db_bench_text() -> list[bytes]:
    folders = ("rocksdb-7.8.3-level", "rocksdb-11.8.1-universal")
    found = [(CAPTURED / name / "stdout.txt").read_bytes() for name in folders]
    found += [path.read_bytes() for path in sorted((DATA / "seeds").glob("*.txt"))]
    return [*found, (ROOT / "tests" / "fakes" / "recorded" / "probe.txt").read_bytes()]


def _db_bench(data: bytes, folder: Path) -> None:
    text = data.decode(errors="replace")
    parse_compaction_tables(text)
    parse_banner(text, text)
    parse_runs(text, [])
    for parse in (parse_results, parse_statistics, parse_stall_summary):
        with suppress(ParseError):
            parse(text)


def _options_files() -> list[bytes]:
    return [OPTIONS.encode(), (ROOT / "examples" / "OPTIONS").read_bytes()]


def _sysbench_text() -> list[bytes]:
    names = ("sysbench-oltp-2-threads.txt", "myrocks-tpcc-2-threads.txt")
    told = {"start_s": 5.0, "end_s": 6.0, "operations": 100, "latency": [[200, 60], [210, 40]]}
    lines: list[dict[str, Any]] = [{"condition": 1, "violations": 0}]
    lines += [{"records": {"thread": n, **told}} for n in range(2)]
    lines += [{"lookup": {"thread": n, **told, "found": 40}} for n in range(2)]
    own = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    return [*((CAPTURED / name).read_bytes() for name in names), own.encode()]


READERS = {
    "options_base": Reader(_options, lambda: [*_options_files(), OPTIONS_OF_MYROCKS.encode()]),
    "options_export": Reader(
        partial(_exported, "finished", "options"),
        partial(_with_exported, "finished", "options", OPTIONS.encode()),
    ),
    "my_cnf_base": Reader(_my_cnf, texts(MY_CNF)),
    "my_cnf_export": Reader(
        partial(_exported, "server", "my.cnf"),
        partial(_with_exported, "server", "my.cnf", MY_CNF.encode()),
    ),
    "tikv_toml_base": Reader(_tikv_toml, texts(TIKV_TOML)),
    "tikv_toml_export": Reader(
        partial(_exported, "cluster", "tikv-toml"),
        partial(_with_exported, "cluster", "tikv-toml", TIKV_TOML.encode()),
    ),
    "tikv_config": Reader(_tikv_config, texts(json.dumps(DEFAULTS)), ENGINES_OUTPUT),
    "tikv_metrics": Reader(_prometheus, _metrics_text, ENGINES_OUTPUT),
    "go_ycsb": Reader(_go_ycsb, _ycsb_text, ENGINES_OUTPUT),
    "sysbench": Reader(_sysbench, _sysbench_text, ENGINES_OUTPUT),
    "db_bench": Reader(_db_bench, db_bench_text, ENGINES_OUTPUT),
}
