"""Judge ten pairs of runs before and after a change with `lsmtune inspect`, and run them again.

    .venv/bin/python benchmarks/before_after.py FOLDER BENCHMARK_SH [--cases NAME ...]

BENCHMARK_SH is tools/benchmark.sh of RocksDB 7.8.3, which needs bc, time and procps. The pairs are
in before_after_cases.py. inspect gets the texts of one or several runs per side. Then 5 pairs of
fresh runs say which side is better: the 95 % interval of the ratio, or "cannot say" if it contains
1. The sides alternate. Of options, the true list is the difference between the OPTIONS files that
RocksDB writes. The texts are kept in FOLDER, and a run whose text is there is not repeated. Writes
results/before_after.json after every run. Takes about 20 minutes with db_bench 7.8.3.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from before_after_cases import CASES, OPTIONS_CASES, Case, OptionsCase

from lsmtune.stats import ratio_interval

RESULTS = Path(__file__).parent / "results" / "before_after.json"
PROGRAM = os.environ.get("LSMTUNE_DB_BENCH", "db_bench")
SIDES = ("before", "after")
PAIRS = 5
SHOWN, AGAIN = "shown", "again"
_UNUSED_PROGRAMS = ("iostat", "vmstat", "killall")
"""benchmark.sh stops all processes of these names. Their output does not reach report.tsv."""
_LSMTUNE = "from lsmtune.cli.main import main; main()"
_OPTION = re.compile(r"^\s*(\w+)=(.*)$", re.MULTILINE)
_FIELD = re.compile(r"(\w+)=([^;{}]*);?")
Row = dict[str, Any]


def main() -> None:
    """Run what is missing, judge, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("script", type=Path)
    names = [*CASES, *OPTIONS_CASES]
    parser.add_argument("--cases", nargs="+", default=names, choices=names)
    given = parser.parse_args()
    script = given.script.resolve()
    for name in given.cases:
        folder = (given.folder / name).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        if name in CASES:
            for row in measured(CASES[name], folder, script):
                record(name, row)
        else:
            record(name, options_row(OPTIONS_CASES[name], folder))
    table()


def measured(case: Case, folder: Path, script: Path) -> Iterator[Row]:
    """Yield the row of a case after each run, and at the end with its judgements."""
    for number, (stage, place) in enumerate(stages(case)):
        for side in SIDES if number % 2 == 0 else SIDES[::-1]:
            path = folder / f"{stage}-{side}-{place}.txt"
            if not path.is_file():
                run(case, side, path, script, seed=1 + 2 * number + SIDES.index(side))
                yield row_of(case, folder)
    row = row_of(case, folder)
    row |= inspected(case, folder) | rerun(case, row)
    yield {**row, "right": is_right(row)}


def stages(case: Case) -> list[tuple[str, int]]:
    """Return the pairs of runs in their order: those that inspect gets, then those that judge."""
    return [(SHOWN, at) for at in range(case.shown)] + [(AGAIN, at) for at in range(PAIRS)]


def run(case: Case, side: str, path: Path, script: Path, seed: int) -> None:
    """Run a side once; write what inspect reads, and the output of db_bench next to it."""
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as place:
        flags = case.flags(side)
        if case.kind == "report":
            text = output = report(flags, case.jobs, script, Path(place))
        else:
            output = db_bench({**flags, "seed": seed}, place)
            text = output
            if case.kind == "log":
                text = Path(place, "db", "LOG").read_text()
            elif case.kind == "dump":
                text = "\n".join(after_results(output.splitlines())) + "\n"
    path.with_suffix(".out").write_text(output)
    path.with_suffix(".seconds").write_text(f"{time.monotonic() - start:.1f}")
    path.write_text(text)


def db_bench(flags: dict[str, object], place: str) -> str:
    """Return the output of db_bench on a store of its own."""
    words = [f"--{name}={value}" for name, value in flags.items()]
    done = subprocess.run([PROGRAM, *words, f"--db={place}/db"], check=True, cwd=place,
                          capture_output=True, text=True)  # fmt: skip
    version = [line for line in done.stderr.splitlines() if line.startswith("RocksDB:")]
    return "\n".join([*version, done.stdout])


def after_results(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines after the last result: the statistics alone."""
    last = max(at for at, line in enumerate(lines) if "micros/op" in line)
    return lines[last + 1 :]


def report(variables: dict[str, object], jobs: str, script: Path, place: Path) -> str:
    """Return the report that benchmark.sh writes about tests on a store of its own."""
    programs = place / "programs"
    programs.mkdir()
    for name in _UNUSED_PROGRAMS:
        (programs / name).write_text("#!/bin/sh\n")
        (programs / name).chmod(0o755)
    (place / "db_bench").symlink_to(str(shutil.which(PROGRAM)))
    texts = {name: str(value) for name, value in variables.items()}
    folders = {"DB_DIR": f"{place}/db", "WAL_DIR": f"{place}/db", "OUTPUT_DIR": f"{place}/out"}
    environment = {**os.environ, **texts, **folders, "PATH": f"{programs}:{os.environ['PATH']}"}
    subprocess.run([str(shutil.which("bash")), str(script), jobs], check=True, cwd=place,
                   capture_output=True, env=environment)  # fmt: skip
    return (place / "out" / "report.tsv").read_text()


def row_of(case: Case, folder: Path) -> Row:
    """Return the values of the runs of a case so far."""
    found = {(stage, side): sorted(folder.glob(f"{stage}-{side}-*.txt"))
             for stage in (SHOWN, AGAIN) for side in SIDES}  # fmt: skip
    seconds = sum(float(path.read_text()) for path in folder.glob("*.seconds"))
    row: Row = {"kind": case.kind, "benchmark": case.benchmark, "metric": case.metric,
                "seconds": round(seconds, 1)}  # fmt: skip
    for (stage, side), paths in found.items():
        outputs = [path.with_suffix(".out").read_text() for path in paths]
        row[f"{stage}_{side}"] = [value_of(case, text) for text in outputs]
    return row


def value_of(case: Case, output: str) -> float:
    """Return the metric of a run from the text that db_bench or benchmark.sh printed."""
    if case.kind == "result":
        found = re.search(rf"^{case.benchmark} .*?(\d+) ops/sec", output, re.MULTILINE)
        return float(found[1]) if found else 0.0
    if case.kind == "report":
        rows = [line.split("\t") for line in output.splitlines() if "\t" in line]
        at = rows[0].index("test")
        return next(float(cells[0]) for cells in rows if cells[at] == case.benchmark)
    if case.metric == "write_amp":
        written = ticker(output, "compact.write.bytes") + ticker(output, "flush.write.bytes")
        return written / ticker(output, "bytes.written")
    hits = ticker(output, "block.cache.hit")
    return 100 * hits / (hits + ticker(output, "block.cache.miss"))


def ticker(output: str, name: str) -> int:
    """Return the last value of a ticker."""
    return int(re.findall(rf"^rocksdb\.{re.escape(name)} COUNT : (\d+)", output, re.MULTILINE)[-1])


def inspected(case: Case, folder: Path) -> Row:
    """Return what inspect says of the metric, and its line about the benchmark or the store."""
    before, after = (sorted(path.name for path in folder.glob(f"{SHOWN}-{side}-*.txt"))
                     for side in SIDES)  # fmt: skip
    words = [*before, *(word for name in after for word in ("--after", name))]
    document = json.loads(printed([*words, "--json"], folder))
    metrics = document["metrics"]
    if case.benchmark:
        (found,) = (one for one in document["benchmarks"] if one["name"] == case.benchmark)
        metrics = found["metrics"]
    judged, lines = metrics[case.metric], printed(words, folder).splitlines()
    return {
        "runs": [judged["runs_before"], judged["runs_after"]],
        "inspect": judged["verdict"],
        "inspect_ratio": judged["ratio"],
        "inspect_interval": judged["interval"],
        "differences": [one["name"] for one in document["differences"]],
        "text": next(line for line in lines if line.startswith(case.benchmark)),
    }


def printed(words: Sequence[str], folder: Path) -> str:
    """Return what inspect prints about files in a folder."""
    command = [sys.executable, "-c", _LSMTUNE, "inspect", *words]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=folder,
                          env={**os.environ, "COLUMNS": "200"})  # fmt: skip
    return done.stdout


def rerun(case: Case, row: Row) -> Row:
    """Return the side that the pairs of fresh runs call better after the change."""
    interval = ratio_interval(row[f"{AGAIN}_after"], row[f"{AGAIN}_before"])
    side = "cannot say"
    if interval.low > 1 or interval.high < 1:
        side = "better" if (interval.low > 1) == case.higher_is_better else "worse"
    rounded = [round(value, 4) for value in (interval.median, interval.low, interval.high)]
    return {"rerun": side, "rerun_ratio": rounded[0], "rerun_interval": rounded[1:]}


def is_right(row: Row) -> bool:
    """Return whether inspect names the side of the rerun, or cannot say where the rerun cannot.

    Of one run each, inspect must not call a side better; its ratio must point to the side.
    """
    if row["runs"] == [1, 1]:
        same = (row["inspect_ratio"] > 1) == (row["rerun_ratio"] > 1)
        return bool(row["inspect"] == "one_run_each" and (same or row["rerun"] == "cannot say"))
    said = row["inspect"] if row["inspect"] in ("better", "worse") else "cannot say"
    is_open = row["inspect"] in ("unchanged", "undecided")
    return bool(said == row["rerun"] and (said != "cannot say" or is_open))


def options_row(case: OptionsCase, folder: Path) -> Row:
    """Return the options that inspect names as different, and the true ones."""
    texts = {}
    for side in SIDES:
        written = folder / f"OPTIONS-{side}"
        if not written.is_file():
            written.write_text(options_of(case, side))
        texts[side] = true_options(written.read_text())
        if case.sections:
            (folder / f"{side}.txt").write_text(options_string(case.sections[side]))
    true = {name for name in texts["before"].keys() | texts["after"].keys()
            if texts["before"].get(name) != texts["after"].get(name)}  # fmt: skip
    files = [f"{side}.txt" if case.sections else f"OPTIONS-{side}" for side in SIDES]
    words = [files[0], "--after", files[1]]
    document = json.loads(printed([*words, "--json"], folder))
    said = {one["name"]: [one["before"], one["after"]] for one in document["options"]}
    values = {name: [texts[side].get(name) for side in SIDES] for name in sorted(true)}
    right = said.keys() == true and case.changed <= true
    if not case.sections:
        right = right and said == values
    return {"kind": "options", "true": values, "inspect": dict(sorted(said.items())),
            "text": printed(words, folder).splitlines()[0], "right": right}  # fmt: skip


def options_of(case: OptionsCase, side: str) -> str:
    """Return the OPTIONS file that RocksDB writes with the flags or the sections of a side."""
    with tempfile.TemporaryDirectory(prefix="lsmtune-") as place:
        flags = dict(case.flags.get(side, {"benchmarks": "fillseq", "num": 1000}))
        if case.sections:
            given = Path(place, "given.OPTIONS")
            given.write_text(options_file(case.sections[side]))
            flags["options_file"] = given
        db_bench(flags, place)
        return next(Path(place, "db").glob("OPTIONS-*")).read_text()


def options_file(sections: Any) -> str:
    """Return an OPTIONS file with these options."""
    heads = {"DBOptions": "[DBOptions]", "CFOptions": '[CFOptions "default"]',
             "TableOptions": '[TableOptions/BlockBasedTable "default"]'}  # fmt: skip
    lines = ["[Version]", "rocksdb_version=7.8.3", "options_file_version=1.1"]
    for name, head in heads.items():
        lines += [head, *(f"{key}={value}" for key, value in sections[name].items())]
        if name == "CFOptions":
            lines.append("table_factory=BlockBasedTable")
    return "\n".join([*lines, ""])


def options_string(sections: Any) -> str:
    """Return the options in the order of the sections, as a person pastes them."""
    parts = []
    for name, options in sections.items():
        text = ";".join(f"{key}={value}" for key, value in options.items())
        parts.append(f"block_based_table_factory={{{text}}}" if name == "TableOptions" else text)
    return ";".join(parts) + "\n"


def true_options(text: str) -> dict[str, str]:
    """Return the options of a file that RocksDB wrote, one entry per field of a structure."""
    found: dict[str, str] = {}
    for name, value in _OPTION.findall(text):
        if value.startswith("{"):
            found |= {f"{name}.{field}": inner for field, inner in _FIELD.findall(value)}
        else:
            found[name] = value
    return found


def record(name: str, row: Row) -> None:
    """Write the row of a case; the other rows stay."""
    rows = json.loads(RESULTS.read_text()) if RESULTS.is_file() else {}
    rows[name] = row
    order = [*CASES, *OPTIONS_CASES]
    rows = {name: rows[name] for name in order if name in rows}
    RESULTS.write_text(json.dumps(rows, indent=1) + "\n")
    if "right" in row:
        print(name, "right" if row["right"] else "WRONG", row["text"], file=sys.stderr, flush=True)


def table() -> None:
    """Print a row per pair."""
    rows = json.loads(RESULTS.read_text())
    print("| pair | runs per side | inspect | 5 further pairs | right |\n|---|---|---|---|---|")
    for name, row in rows.items():
        right = {True: "yes", False: "no", None: "open"}[row.get("right")]
        if row["kind"] == "options":
            cells = ("1", f"{len(row['inspect'])} differ", f"{len(row['true'])} differ")
        elif "inspect" not in row:
            cells = ("", "", "")
        else:
            low, high = row["rerun_interval"]
            again = f"{row['rerun_ratio']:.3g} ({low:.3g} to {high:.3g}): {row['rerun']}"
            said = f"{row['inspect_ratio']:.3g}: {row['inspect']}"
            cells = (str(row["runs"][0]), said, again)
        print(f"| {name} | {' | '.join(cells)} | {right} |")
    print(f"{sum(row.get('right') is True for row in rows.values())} of {len(rows)} right")


if __name__ == "__main__":
    main()
