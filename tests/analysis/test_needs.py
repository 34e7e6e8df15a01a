"""What rules lack: the verdict counts all of it, the list names what such a text can contain."""

import gzip
import json
from pathlib import Path

import pytest
from log_texts import DATABASE, FAMILY, dump, event, flush, line, log, stalls
from planted_texts import HEAD, L0, row
from test_options_input import HALF_SET
from test_pastes import STATS, TICKERS

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.cli.main import run
from lsmtune.report.text.inspect_words import needed_lines, verdict_text

HEALTHY = Path(__file__).parents[1] / "data" / "healthy"
MIB = 1 << 20
CREATED = [(0.1, "[db/version_set.cc:5624] Creating manifest 5"), (0.1, "DB pointer 0x55b0")]
EMPTY = " Sum 0/0 0.00 KB 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.00 0.00 0 0.000 0 0 0.0 0.0\n"


def inspected(tmp_path: Path, text: str) -> Inspection:
    path = tmp_path / "text"
    path.write_text(text)
    return inspect_path(path)


def idle(*, dumps: int = 9) -> str:
    """Return a LOG from its first line on of a store that flushed nothing."""
    tables = (
        f"{HEAD}{EMPTY}Flush(GB): cumulative 0.000, interval 0.000\n"
        "Cumulative compaction: 0.00 GB write, 0.00 MB/s write, 0.00 GB read, 0.00 MB/s read, 0.0 "
        "seconds"
    )
    text = "\n".join(dump(600.0 * n, tail=tables) for n in range(1, dumps + 1))
    return log(CREATED, text.replace("rocksdb.block.cache.miss COUNT : 0\n", ""))


# --- a store that flushed nothing


def test_a_log_with_nine_dumps_and_its_first_line_lacks_only_tickers(tmp_path: Path) -> None:
    found = inspected(tmp_path, idle())
    assert found.extent.dumps == len(found.dumps) == 9
    assert (found.extent.has_first_line, found.extent.nothing_ran) == (True, True)
    assert (found.totals.compactions, found.totals.compaction_s) == (0, 0.0)
    assert found.verdict == "insufficient_data"
    assert [advice.partition(":")[0] for advice in found.needed] == ["the tickers (counters)"]
    assert found.needed_here == (
        "the tickers (counters): set Options.statistics in the program",
    )  # fmt: skip
    assert inspection_document(found)["nothing_flushed"] is True


def test_with_all_data_a_store_that_flushed_nothing_has_no_findings(tmp_path: Path) -> None:
    text = idle(dumps=1).rstrip("\n") + "\nrocksdb.number.keys.read COUNT : 0\n"
    found = inspected(tmp_path, text)
    assert (found.verdict, found.needed, found.needed_here) == ("no_findings", (), ())
    assert "Nothing was flushed" in verdict_text(found)


@pytest.mark.parametrize(
    "further",
    [
        stalls(L0, times=3),
        [(1, "[db/flush_job.cc:335] [default] [JOB 2] Flushing memtable with next log file: 9")],
        [(1, 'EVENT_LOG_v1 {"time_micros": 1795332837000000, "job": 2, "event": "flush_st')],
    ],
    ids=["stalls", "job", "cut event"],
)
def test_a_log_that_may_leave_out_jobs_does_not_prove_that_nothing_ran(
    further: list[tuple[float, str]], tmp_path: Path
) -> None:
    found = inspected(tmp_path, log(CREATED, *further))
    assert not found.extent.nothing_ran


def test_a_log_that_begins_after_the_opening_does_not_prove_that_nothing_ran(
    tmp_path: Path,
) -> None:
    whole = idle()
    found = inspected(tmp_path, whole[whole.index("Recovered from") - 33 :])
    assert not found.extent.nothing_ran
    assert any("events" in advice for advice in found.needed)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Flush(GB): cumulative 0.000", "Flush(GB): cumulative 0.125"),
        ("Cumulative compaction: 0.00 GB", "Cumulative compaction: 0.31 GB"),
        ("Cumulative compaction: ", "Interval compaction: "),
        ("DB pointer 0x55b0", "SstFileManager instance 0x55b0"),
    ],
)
def test_a_dump_or_an_opening_that_did_not_end_may_hide_jobs(
    old: str, new: str, tmp_path: Path
) -> None:
    assert old in idle()
    assert not inspected(tmp_path, idle().replace(old, new)).extent.nothing_ran


def test_a_log_with_a_flush_has_nothing_to_say_of_an_idle_store(tmp_path: Path) -> None:
    found = inspected(tmp_path, log(CREATED, flush(1, 2)))
    assert inspection_document(found)["nothing_flushed"] is False
    assert "Nothing was flushed" not in verdict_text(found)


# --- what is asked for


def warn_level() -> str:
    """Return a LOG from its first line on, at the level WARN."""
    lines = [line(0, "RocksDB version: 7.8.3"), line(0, "DB SUMMARY")]
    lines += [line(0, f"  Options.{name}: {value}") for name, value in DATABASE.items()]
    lines += [line(0, f"  Options.{name}: {value}") for name, value in FAMILY.items()]
    return "\n".join([*lines, line(0.2, "DB pointer 0x7f"), ""])


def test_a_log_without_info_is_asked_for_this_level_and_not_for_its_first_line(
    tmp_path: Path,
) -> None:
    found = inspected(tmp_path, warn_level())
    assert (found.extent.has_first_line, found.extent.logs_info) == (True, False)
    assert found.verdict == "insufficient_data"
    assert not any("first line" in advice for advice in found.needed_here)
    assert sum("INFO_LEVEL" in advice for advice in found.needed_here) == 2
    assert any("level INFO" in note for note in found.incomplete)
    assert not any("starts after" in note for note in found.incomplete)


def test_an_excerpt_is_not_asked_for_the_level_of_its_messages(tmp_path: Path) -> None:
    info = "[db/column_family.cc:839] [cf] Increasing compaction threads because we have 5 level-0"
    for level in ("", "[WARN] "):
        found = inspected(tmp_path, line(1, f"{level}{info} files") + "\n")
        assert any("events" in advice for advice in found.needed_here)
        assert not any("INFO_LEVEL" in advice for advice in found.needed_here)


def test_an_excerpt_of_the_options_is_asked_for_the_whole_log_only(tmp_path: Path) -> None:
    text = log(version="4.6.1").split("Options for column family")[0].rsplit("\n", 1)[0]
    for cut in (text, text.replace("Options.error_if_exists", "Options.cut")):
        found = inspected(
            tmp_path, f"{cut.partition('[db/version_set')[0].rsplit(chr(10), 1)[0]}\n"
        )
        assert found.extent.has_first_line
        assert not any(
            words in advice
            for words in ("INFO_LEVEL", "LOG.old", "first line", "blob")
            for advice in found.needed_here
        )
        assert not any("level INFO" in note for note in found.incomplete)


def test_bytes_below_the_digits_of_a_dump_are_not_missing(tmp_path: Path) -> None:
    text = dump(100).replace("ingest: 0.01 GB, 1.00 MB/s", "ingest: 0.00 GB, 0.00 MB/s")
    found = inspected(tmp_path, log(text))
    assert found.totals.ingest_below_bytes == pytest.approx(0.005 * (1 << 30), abs=1)
    assert any("clients wrote less than" in note for note in found.incomplete)
    assert not any("missing" in note for note in found.incomplete if "clients" in note)
    assert any("longer time" in advice for advice in found.needed_here)


def test_a_log_that_begins_later_is_asked_for_its_first_line_once(tmp_path: Path) -> None:
    whole = gzip.decompress((HEALTHY / "fifo.LOG.gz").read_bytes()).decode()
    found = inspected(tmp_path, whole.split("\n", 90)[-1])
    assert sum("first line" in advice for advice in found.needed_here) >= 2
    shown = needed_lines(found)
    assert sum("first line" in text for text in shown) == 1
    assert len(shown) <= 2


@pytest.mark.parametrize("path", sorted(HEALTHY.glob("*.gz")), ids=lambda path: path.name[:-7])
def test_a_healthy_log_still_has_no_findings_and_lacks_nothing(path: Path) -> None:
    found = inspect_path(path)
    assert (found.verdict, found.needed, found.needed_here) == ("no_findings", (), ())


@pytest.mark.parametrize("kind", HALF_SET)
def test_options_alone_are_asked_for_nothing_else(kind: str, tmp_path: Path) -> None:
    found = inspected(tmp_path, HALF_SET[kind])
    assert found.needed_here == ()
    assert len(found.needed) > 3
    assert len(needed_lines(found)) == 1


def test_an_options_file_that_changes_nothing_is_not_called_healthy(tmp_path: Path) -> None:
    text = HALF_SET["OPTIONS file"].replace("max_background_flushes=4", "max_background_flushes=-1")
    found = inspected(tmp_path, text)
    assert (found.findings, found.verdict, found.needed_here) == ((), "insufficient_data", ())


BENCH = "fillrandom   :      27.518 micros/op 36338 ops/sec 2.752 seconds 100000 operations;\n"


@pytest.mark.parametrize(
    ("text", "kind", "asked"),
    [
        (STATS, "statistics dump", {"** Compaction Stats", "STATISTICS"}),
        (STATS + "\n** Compaction Stats [default] **\n" + HEAD + row("L0", 1, "1.00 MB")
         + row("Sum", 9, "9.00 GB", 3.0, 44.0) + "\n" + TICKERS, "statistics dump", set()),
        (BENCH, "db_bench output", {"`stats`", "--statistics", "first line"}),
        (BENCH + STATS + TICKERS, "db_bench output", {"`stats`", "first line"}),
    ],
)  # fmt: skip
def test_each_kind_of_text_is_asked_for_its_own_parts(
    text: str, kind: str, asked: set[str], tmp_path: Path
) -> None:
    found = inspected(tmp_path, text)
    assert found.kind == kind
    assert not any("LOG" in advice for advice in found.needed_here)
    for word in ("** Compaction Stats", "STATISTICS", "`stats`", "--statistics", "first line"):
        assert any(word in advice for advice in found.needed_here) == (word in asked), word
    assert found.verdict in ("findings", "insufficient_data")


# --- notes that say why a number is missing


def note_on_write_amp(found: Inspection) -> str:
    (note,) = (note for note in found.incomplete if "write amplification" in note)
    return note


def test_each_reason_for_no_write_amplification_has_its_own_note(tmp_path: Path) -> None:
    reasons = {
        "nothing since": idle(),
        "clients wrote 1 MiB": log(flush(1, 2), dump(1, tickers={
            "bytes.written": MIB, "flush.write.bytes": MIB, "compact.write.bytes": 0})),
        "most of it is still in memtables": log(flush(1, 2, data=MIB), dump(1, tickers={
            "bytes.written": 64 * MIB, "flush.write.bytes": MIB, "compact.write.bytes": 0})),
        "flushes and compactions wrote is missing": STATS,
        "clients, flushes and compactions": HEAD + row("L0", 1, "1.00 MB") + "\n",
    }  # fmt: skip
    for words, text in reasons.items():
        assert words in note_on_write_amp(inspected(tmp_path, text)), words


def test_options_have_no_note_on_write_amplification(tmp_path: Path) -> None:
    found = inspected(tmp_path, HALF_SET["OPTIONS file"])
    assert not any("amplification" in note for note in found.incomplete)


def test_a_note_says_that_tickers_are_missing_only_if_they_are(tmp_path: Path) -> None:
    tickers = line(1, "[db/db_impl/db_impl.cc:788] STATISTICS:") + "\n" + TICKERS
    found = inspected(tmp_path, log(CREATED, tickers))
    assert found.tickers
    assert not any("tickers" in note for note in found.incomplete)
    assert any("tickers" in note for note in inspected(tmp_path, log(CREATED)).incomplete)


# --- the flag


def test_verbose_lists_all_and_the_rest_at_most_two_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "LOG"
    path.write_text(line(1, "[WARN] [db/db_impl/db_impl_open.cc:9] [cf] words") + "\n")
    assert run(["inspect", str(path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["needed"]) > len(set(document["needed_here"]) & set(document["needed"]))
    assert run(["inspect", str(path)]) == 0
    short = capsys.readouterr().out
    assert short.count("missing here: ") == 2
    assert run(["inspect", str(path), "--verbose"]) == 0
    whole = capsys.readouterr().out
    assert all(advice in whole for advice in document["needed"])
    assert not all(advice in short for advice in document["needed"])


def test_an_event_of_another_kind_is_no_reason_to_ask_for_events(tmp_path: Path) -> None:
    found = inspected(tmp_path, log(event(1, "recovery_finished", job=1)))
    assert not any("events" in advice for advice in found.needed)
