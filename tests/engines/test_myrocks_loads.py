"""sysbench's output, as it was captured, and whatever else may come."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from lsmtune.engines.base import TrialFailedError
from lsmtune.engines.myrocks import engine as myrocks
from lsmtune.engines.myrocks.loads import read_check, read_run, sysbench_argv
from lsmtune.workloads import Workload

DATA = Path(__file__).parents[1] / "data" / "captured"
TPCC = Workload(name="tpcc", threads=2, operations=1000)
OLTP = Workload(name="oltp_read_write", threads=2, operations=100)
TPCC_OUTPUT = (DATA / "myrocks-tpcc-2-threads.txt").read_text()
OLTP_OUTPUT = (DATA / "sysbench-oltp-2-threads.txt").read_text()


def test_tpcc_is_counted_by_transaction() -> None:
    run = read_run(TPCC, TPCC_OUTPUT)
    told = [json.loads(line)["tpcc"] for line in TPCC_OUTPUT.splitlines() if line[:6] == '{"tpcc']
    new_orders = [thread["transactions"]["new_order"] for thread in told]
    assert run.new_orders == sum(part["commits"] for part in new_orders)
    rolled_back = sum(part["rollbacks"] for part in new_orders)
    assert run.transactions + rolled_back == 2 * 1000
    metrics = run.metrics()
    assert metrics["tpmc"] == pytest.approx(60 * run.new_orders / run.load_s)
    for kind in ("new_order", "payment", "order_status", "delivery", "stock_level"):
        values = [metrics[f"{kind}_{p}_us"] for p in ("p50", "p75", "p99", "p999", "p9999")]
        assert values == sorted(values)
        assert 10 < values[0] < values[-1] < run.load_s * 1e6


def test_sysbenchs_own_loads_are_counted() -> None:
    run = read_run(OLTP, OLTP_OUTPUT)
    assert run.transactions == 200
    assert run.new_orders is None
    metrics = run.metrics()
    assert "tpmc" not in metrics
    assert 0 < metrics["transaction_p50_us"] <= metrics["transaction_p99_us"]
    assert sum(count for _, count in run.latencies["transaction"]) == 200


def test_transactions_arrive_at_a_rate() -> None:
    paced = OLTP.model_copy(update={"transactions_s": 70})
    for command, at_rate in (("run", True), ("prepare", False)):
        argv = sysbench_argv(paced, Path("socket"), command, 1)
        assert ("--rate=70" in argv) == at_rate
        free = sysbench_argv(OLTP, Path("socket"), command, 1)
        assert [part for part in argv if part != "--rate=70"] == free


@pytest.mark.parametrize("load", [TPCC, OLTP], ids=lambda load: load.name)
@pytest.mark.parametrize("printed", ["", "sysbench 1.0.20\n", "FATAL: nothing\n"])
def test_output_without_a_result_is_a_failed_trial(load: Workload, printed: str) -> None:
    with pytest.raises(TrialFailedError):
        read_run(load, printed)


def test_a_thread_that_told_nothing_is_missed() -> None:
    first = next(line for line in TPCC_OUTPUT.splitlines() if line.startswith('{"tpcc'))
    with pytest.raises(TrialFailedError, match="1 of 2 threads"):
        read_run(TPCC, first)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ('"commits":', '"commits":9' + "9" * 400),
        ('"latency":[[', '"latency":[[99999,1],['),
        ('"latency":[[', '"latency":[' + "[" * 100_000),
        ('"payment"', '"other"'),
        ('"start_s":', '"start_s":9'),
        ('"end_s":', '"end_s":1e400,"x":'),
        ("}}}}\n", "\n"),
    ],
)
def test_a_line_that_a_thread_cannot_have_printed_is_a_failed_trial(was: str, becomes: str) -> None:
    assert was in TPCC_OUTPUT
    with pytest.raises(TrialFailedError):
        read_run(TPCC, TPCC_OUTPUT.replace(was, becomes))


def test_a_count_of_too_many_digits_is_a_failed_trial() -> None:
    printed = OLTP_OUTPUT.replace("events:              200", f"events:  {'9' * 5000}")
    assert printed != OLTP_OUTPUT
    with pytest.raises(TrialFailedError):
        read_run(OLTP, printed)


def test_a_check_that_cannot_be_read_is_a_failed_trial() -> None:
    with pytest.raises(TrialFailedError):
        read_check('{"condition": 1, "violations": null}\n')


def test_the_checks_are_read() -> None:
    printed = '{"condition": 1, "violations": 0}\nnoise\n{"condition": 4, "violations": 3}\n'
    assert read_check(printed) == {1: 0, 4: 3}


def test_a_load_ends_by_operations_or_by_the_clock() -> None:
    by_count = sysbench_argv(TPCC, Path("s"), "run", 7)
    assert {"--events=2000", "--time=0", "--rand-seed=7", "--warehouses=2"} <= set(by_count)
    timed = Workload(name="tpcc", duration_s=20, families=True)
    by_clock = sysbench_argv(timed, Path("s"), "run", 7)
    assert {"--events=0", "--time=20", "--families=on", "--threads=8"} <= set(by_clock)
    assert "--events=2000" not in sysbench_argv(TPCC, Path("s"), "prepare", 7)


def test_lookups_are_counted_with_those_that_found_something() -> None:
    load = Workload(name="lookup", num=2000, operations=100, threads=2, skew=7.5)
    told = {"start_s": 5.0, "end_s": 6.0, "operations": 100, "found": 40, "latency": [[200, 100]]}
    lines = [json.dumps({"lookup": {"thread": n, **told}}) for n in range(2)]
    metrics = read_run(load, "\n".join(lines)).metrics()
    assert metrics["get_found"] == 0.4
    assert metrics["get_mean_us"] == pytest.approx(metrics["get_p50_us"])
    argv = sysbench_argv(load, Path("s"), "run", 1)
    for flag in ("--num=2000", "--present=0.5", "--skew=7.5", "--operations=100", "--threads=2"):
        assert flag in argv
    with pytest.raises(TrialFailedError, match="1 of 2 threads of the sysbench script lookup"):
        read_run(load, lines[0])


@pytest.mark.skipif(not shutil.which("sysbench"), reason="sysbench is not installed: make myrocks")
def test_every_rank_has_a_key_of_its_own(tmp_path: Path) -> None:
    """130000 shares 13 with db_bench's number, which stays where nothing is shared."""
    drawing = Path(myrocks.__file__).with_name("drawing.lua")
    script = tmp_path / "counted.lua"
    script.write_text(f"""
        local drawing = dofile("{drawing}")
        function prepare()
          for _, num in ipairs({{130000, 457 * 1303, 100000}}) do
            local multiplier, seen, count = drawing.multiplier(num), {{}}, 0
            for rank = 0, num - 1 do
              local key = tonumber(rank * multiplier % (1ULL * num))
              if not seen[key] then seen[key], count = true, count + 1 end
            end
            print(num, count, tonumber(multiplier))
          end
        end
    """)
    done = subprocess.run(
        ["sysbench", str(script), "prepare"], capture_output=True, text=True, check=True
    )
    told = [line.split("\t") for line in done.stdout.splitlines() if line.count("\t") == 2]
    assert [(num, count) for num, count, _ in told] == [
        (num, num) for num in ("130000", str(457 * 1303), "100000")
    ]
    assert told[2][2] == str(0x5BD1E995)
