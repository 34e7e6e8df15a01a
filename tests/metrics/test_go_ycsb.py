"""go-ycsb's output: as text, as JSON, with errors, and cut."""

import json

import pytest

from lsmtune.errors import ParseError
from lsmtune.metrics.go_ycsb import parse_go_ycsb

READ = (
    "READ   - Takes(s): 5.3, Count: 49899, OPS: 9466.9, Avg(us): 187, Min(us): 3, Max(us): 232831, "
    "50th(us): 19, 90th(us): 42, 95th(us): 61, 99th(us): 3099, 99.9th(us): 31567, "
    "99.99th(us): 131455"
)
UPDATE = READ.replace("READ  ", "UPDATE").replace("49899", "50101").replace("3099", "4099")
TOTAL = READ.replace("READ ", "TOTAL").replace("49899", "100000")
END = "Run finished, takes 5.271675527s"
PLAIN = "\n".join(["***************** properties *****************", '"threadcount"="8"',
                   "Using request distribution 'zipfian' a keyrange of [0 100000]", END,
                   READ, TOTAL, UPDATE, ""])  # fmt: skip


def as_json(*rows: str) -> str:
    """The rows as `outputstyle=json` prints them: every value a text."""
    told = []
    for row in rows:
        name, _, values = row.partition("- ")
        pairs = (part.split(": ") for part in values.split(", "))
        told.append({"Operation": name.strip(), **dict(pairs)})
    return json.dumps(told)


@pytest.mark.parametrize("text", [PLAIN, f"{END}\n{as_json(READ, TOTAL, UPDATE)}\n"])
def test_both_styles_say_the_same(text: str) -> None:
    run = parse_go_ycsb(text)
    assert run.took_s == pytest.approx(5.271675527)
    assert run.operations == 100_000
    assert run.errors == {}
    metrics = run.metrics()
    assert metrics["throughput_ops_s"] == pytest.approx(100_000 / 5.271675527)
    assert metrics["load_s"] == run.took_s
    assert (metrics["get_mean_us"], metrics["get_p50_us"], metrics["get_p99_us"]) == (187, 19, 3099)
    assert (metrics["get_p999_us"], metrics["get_p9999_us"]) == (31567, 131455)
    assert metrics["write_p99_us"] == 4099
    assert not any(name.startswith("scan") for name in metrics)


def test_what_was_printed_during_the_run_does_not_count() -> None:
    early = READ.replace("49899", "10").replace("3099", "1")
    late = PLAIN.replace(END, f"{early}\n{as_json(early)}\n{END}")
    assert parse_go_ycsb(late).metrics() == parse_go_ycsb(PLAIN).metrics()


def test_failed_operations_are_told_by_their_kind() -> None:
    failed = READ.replace("READ  ", "SCAN_ERROR").replace("49899", "7")
    run = parse_go_ycsb(f"{PLAIN}{failed}\n")
    assert run.errors == {"SCAN": 7}
    assert run.operations == 100_000


def test_a_read_modify_write_is_one_operation() -> None:
    modified = READ.replace("READ  ", "READ_MODIFY_WRITE").replace("49899", "50101")
    assert parse_go_ycsb(f"{PLAIN}{modified}\n").operations == 49_899


def test_columns_of_other_versions_are_read_by_name() -> None:
    old = "SCAN   - Takes(s): 9.9, Count: 20, OPS: 2.0, Avg(us): 500, 99th(us): 900"
    assert parse_go_ycsb(f"Run finished, takes 10s\n{old}\n").latencies() == {
        "scan_mean_us": 500, "scan_p99_us": 900,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("told", "seconds"),
    [("1m5.5s", 65.5), ("1h0m0.5s", 3600.5), ("523.25ms", 0.52325), ("12µs", 12e-6)],
)
def test_durations_are_those_of_go(told: str, seconds: float) -> None:
    text = PLAIN.replace("5.271675527s", told)
    assert parse_go_ycsb(text).took_s == pytest.approx(seconds)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Run finished.*missing"),
        (READ, "Run finished.*missing"),
        (f"{END}\n", "row of results"),
        (f"{END}\nbye\n", "row of results"),
        (PLAIN.replace("5.271675527s", "soon"), "duration 'soon'"),
        (PLAIN.replace("5.271675527s", "0s"), "duration '0s'"),
        (PLAIN.replace("49899", "many"), "number.*READ .*many"),
        (PLAIN.replace("49899", "nan"), "finite.*READ .*nan"),
        (f"{END}\nREAD   - OPS: 9466.9, Avg(us): 187\n", "Count.*READ .*187"),
        (f"{END}\n[{{truncated\n", "JSON.*truncated"),
        (f'{END}\n[{{"Count": "5"}}]\n', "Operation.*Count"),
        (PLAIN.replace("5.271675527s", "9" * 400 + "s"), "duration '9"),
        (f'{END}\n[{{"Operation": "READ", "Count": {"9" * 400}}}]\n', "number"),
        (f"{END}\n[{{{'[' * 100_000}\n", "JSON"),
    ],
)
def test_what_is_no_result_is_refused(text: str, words: str) -> None:
    with pytest.raises(ParseError, match=f"^go-ycsb output: .*{words}"):
        parse_go_ycsb(text)
