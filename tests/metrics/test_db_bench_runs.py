"""All runs in a text of db_bench: repeats, several outputs, means, and the load of each."""

import pytest

from fakes.bench_texts import banner, histogram, result, statistics
from lsmtune.metrics.db_bench import parse_results
from lsmtune.metrics.db_bench_runs import RunText, has_means, parse_runs


def runs(text: str) -> list[RunText]:
    faults: list[str] = []
    found = parse_runs(text, faults)
    assert not faults
    return found


def test_a_run_has_the_load_of_its_banner_and_its_percentiles() -> None:
    (found,) = runs(banner() + result("fillrandom", 80_000) + histogram(11, 70))
    run = found.run
    assert run.benchmark == "fillrandom"
    assert run.values["ops_per_s"] == 80_000
    assert (run.values["p50_us"], run.values["p99_us"], run.values["max_us"]) == (11, 70, 12345)
    expected = {
        "version": "9.4.0", "records": 2_000_000, "key_bytes": 20, "value_bytes": 120,
        "compressed_value_bytes": 60, "threads": 4, "compression": "Snappy", "db_path": "store",
        "operations": 2_000_000, "cpu": "4 * Some Processor",
    }  # fmt: skip
    assert expected.items() <= run.setup.items()


def test_repeats_are_runs_and_their_mean_is_not() -> None:
    text = "".join(result("readrandom", ops) for ops in (90_000, 92_000, 91_000))
    text += "\nreadrandom [AVG    3 runs] : 91000 (± 1131) ops/sec; 0.044 ms/op;   35.1 (± 0.4) "
    text += "MB/sec\nreadrandom [MEDIAN 3 runs] : 91000 ops/sec;   35.1 MB/sec\n"
    found = runs(banner() + text)
    assert [one.run.values["ops_per_s"] for one in found] == [90_000, 92_000, 91_000]
    assert [one.is_first for one in found] == [True, False, False]
    assert parse_results(text)["readrandom"].ops_per_s == 91_000


def test_a_mean_alone_is_one_run_with_the_deviation_of_its_repeats() -> None:
    line = "fillrandom [AVG 4 runs] : 100000 (± 1960) ops/sec;   11.1 (± 0.2) MB/sec\n"
    (found,) = runs(line)
    assert has_means(line)
    assert found.run.repeats == 4
    assert found.run.deviation == pytest.approx(0.02, rel=1e-4)
    (old,) = runs("fillrandom [AVG    4 runs] : 100000 ops/sec;   11.1 MB/sec\n")
    assert (old.run.repeats, old.run.deviation) == (4, None)


def test_runs_to_warm_up_are_left_out() -> None:
    text = "Warming up benchmark by running 1 times\n" + result("readrandom", 10)
    text += "Running benchmark for 2 times\n" + result("readrandom", 20) + result("readrandom", 30)
    assert [one.run.values["ops_per_s"] for one in runs(text)] == [20, 30]


def test_outputs_one_after_the_other_have_their_own_load() -> None:
    text = banner(records=1000) + result("fillseq", 10) + banner(records=2000)
    found = runs(text + result("fillseq", 20))
    assert [one.run.setup["records"] for one in found] == [1000, 2000]
    assert all(one.is_first for one in found)


def test_a_version_behind_the_results_counts_for_all() -> None:
    text = "\n".join(line for line in banner().splitlines() if not line.startswith("RocksDB:"))
    found = runs(text + "\n" + result("fillseq", 10) + "RocksDB:    version 8.1.1\n")
    assert [one.run.setup["version"] for one in found] == ["8.1.1"]


def test_the_flags_of_a_command_line_are_the_load() -> None:
    command = "$ ./db_bench --benchmarks=fillrandom --num=5000 --threads=2 \\\n"
    command += "   --value_size=64 --cache_size=1048576 --seed=7\n"
    (found,) = runs(command + result("fillrandom", 800, threads=2))
    expected = {"records": 5000, "threads": 2, "value_bytes": 64, "--cache_size": 1048576}
    assert expected.items() <= found.run.setup.items()
    assert "--seed" not in found.run.setup


def test_statistics_belong_to_the_first_benchmark_of_a_process_only() -> None:
    text = banner() + result("fillrandom", 10) + statistics(4, 12, 5)
    text += result("overwrite", 10) + statistics(8, 30, 5)
    assert [one.is_first for one in runs(text)] == [True, False]
    pasted = result("overwrite", 10) + statistics(4, 12, 5)
    assert [one.is_first for one in runs(pasted + pasted)] == [True, True]


def test_a_damaged_result_is_left_out_and_named() -> None:
    faults: list[str] = []
    text = "fillseq : -nan micros/op 114478 ops/sec; 12.7 MB/s\n" + result("fillseq", 10)
    assert [one.run.values["ops_per_s"] for one in parse_runs(text, faults)] == [10]
    assert len(faults) == 1


def test_two_kinds_of_operations_have_percentiles_of_their_own() -> None:
    text = result("mixgraph", 10) + histogram(5, 50, "read") + histogram(9, 90, "write")
    (found,) = runs(text)
    assert (found.run.values["read_p99_us"], found.run.values["write_p99_us"]) == (50, 90)
    assert "p99_us" not in found.run.values
