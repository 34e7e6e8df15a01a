"""A stand-in for go-ycsb: reads its property file, has the stand-in of TiKV do the work, and prints
what go-ycsb prints. Run as a program, so that it imports the standard library alone. Where a file
`hold` lies beside it, a load under other options than the user's does not end, and the file `held`
says so.
"""

import json
import os
import signal
import sys
import time
from enum import StrEnum
from pathlib import Path
from typing import NoReturn


class Mode(StrEnum):
    """What the stand-in does."""

    WORKS = "works"
    JSON = "prints JSON"
    SAYS_ERRORS = "says that operations failed"
    COUNTS_ERRORS = "prints rows of errors alone"
    GARBAGE = "prints garbage"
    NO_END = "ends without a word"
    DIES = "is killed"
    FAILS = "cannot reach the placement driver"
    HANGS = "does not end"
    DOES_LESS = "does fewer operations than it was asked for"


def install(folder: Path) -> Path:
    """Make a go-ycsb in the folder; its path. The file `mode` beside it says what it does."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "go-ycsb"
    program.write_text(
        f"#!{sys.executable} -ISB\n"
        f"import sys\n"
        f"sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
        f"from fake_go_ycsb import main\n"
        f"main({str(folder)!r})\n"
    )
    program.chmod(0o755)
    (folder / "mode").write_text(Mode.WORKS)
    return program


def main(folder: str) -> NoReturn:
    """Run as go-ycsb does."""
    command, database, flag, file = sys.argv[1:]
    if (database, flag) != ("tikv", "-P"):
        sys.exit(f"go-ycsb: unknown {database} {flag}")
    told = dict(line.split("=", 1) for line in Path(file).read_text().splitlines())
    loads = command == "load"
    mode = Mode.WORKS if loads else Mode((Path(folder) / "mode").read_text())
    with (Path(folder) / "runs").open("a") as runs:
        runs.write(json.dumps({"command": command, **told}) + "\n")
    print("***************** properties *****************")
    for name, value in told.items():
        print(f'"{name}"="{value}"')
    print("**********************************************", flush=True)
    _misbehave(mode)
    if (Path(folder) / "hold").exists() and _is_tuned(told):
        (Path(folder) / "held").touch()
        time.sleep(60)
    try:
        did = _work(command, told)
    except OSError as error:
        time.sleep(41)  # as long as the client of TiKV tries again
        print(f"operation err: {error}", flush=True)
        sys.exit(0)
    if did["conflicts"] and told["silence"] != "true":
        print("operation err: write conflict { start_ts: 462700000000000001 }", flush=True)
    asked = int(told["insertcount" if loads else "operationcount"])
    done = asked // 2 if mode is Mode.DOES_LESS else asked
    rows = _rows(told, done, loads, did)
    if mode is Mode.COUNTS_ERRORS:
        rows["READ_ERROR"] = (3, 41_000_000.0)
    print("**********************************************")
    print("Run finished, takes 2.5s")
    _print(rows, as_json=mode is Mode.JSON)
    sys.exit(0)


def _is_tuned(told: dict[str, str]) -> bool:
    """Whether TiKV runs with other options than its own file has."""
    from asking import ask  # noqa: PLC0415 - beside this file, on the path of the program alone

    return ask(told["tikv.pd"], "/tuned", "")[1] == "yes"


def _misbehave(mode: Mode) -> None:
    if mode is Mode.HANGS:
        time.sleep(60)
    if mode is Mode.DIES:
        os.kill(os.getpid(), signal.SIGKILL)
    if mode is Mode.FAILS:
        print("create db tikv failed [pd] failed to get cluster id", file=sys.stderr)
        sys.exit(1)
    if mode is Mode.NO_END:
        sys.exit(0)
    if mode is Mode.GARBAGE:
        print("Run finished, takes 2.5s\nREAD   - Takes(s): 5.3, Count: many, OPS: 9466.9")
        sys.exit(0)
    if mode is Mode.SAYS_ERRORS:
        print("operation err: rpc error: code = Unavailable", flush=True)
        time.sleep(60)


def _work(command: str, told: dict[str, str]) -> dict[str, float]:
    from asking import ask  # noqa: PLC0415 - beside this file, on the path of the program alone

    _, text = ask(told["tikv.pd"], "/work", json.dumps({"command": command, "properties": told}))
    return dict(json.loads(text))


def _rows(
    told: dict[str, str], done: int, loads: bool, did: dict[str, float]
) -> dict[str, tuple[int, float]]:
    """Count and mean of each kind of operation."""
    read, write = did["read_us"], did["write_us"]
    if loads:
        return {"INSERT": (done, write), "TOTAL": (done, write)}
    share = {name: float(told[f"{name}proportion"]) for name in (
        "read", "update", "insert", "scan", "readmodifywrite")}  # fmt: skip
    modified = round(done * share["readmodifywrite"])
    inserted, scanned = round(done * share["insert"]), round(done * share["scan"])
    updated = round(done * share["update"])
    rest = done - modified - inserted - scanned - updated
    found = {
        "READ": (rest + modified, read),
        "UPDATE": (updated + modified, write),
        "INSERT": (inserted, write),
        "SCAN": (scanned, read * int(told["maxscanlength"])),
        "READ_MODIFY_WRITE": (modified, read + write),
    }
    failed = round((updated + modified) * did["conflicts"])
    found["UPDATE"] = (updated + modified - failed, write)
    rows = {name: row for name, row in found.items() if row[0]}
    total = sum(count for name, (count, _) in rows.items() if name != "READ_MODIFY_WRITE")
    rows |= {"UPDATE_ERROR": (failed, write)} if failed else {}
    return {**rows, "TOTAL": (total, read)}


def _print(rows: dict[str, tuple[int, float]], *, as_json: bool) -> None:
    header = ["Takes(s)", "Count", "OPS", "Avg(us)", "Min(us)", "Max(us)", "50th(us)", "90th(us)",
              "95th(us)", "99th(us)", "99.9th(us)", "99.99th(us)"]  # fmt: skip
    told = []
    for name, (count, mean) in sorted(rows.items()):
        times = [mean, mean / 2, mean * 9, mean, mean * 2, mean * 3, mean * 4, mean * 5, mean * 6]
        values = ["2.5", str(count), f"{count / 2.5:.1f}", *(str(int(t)) for t in times)]
        told.append((name, dict(zip(header, values, strict=True))))
    if as_json:
        print(json.dumps([{"Operation": name, **values} for name, values in told]))
        return
    for name, values in told:
        print(f"{name:<6} - " + ", ".join(f"{key}: {value}" for key, value in values.items()))
