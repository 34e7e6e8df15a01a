"""Stores with several column families: what a LOG says of each, and which one matters most."""

import tomllib
from pathlib import Path

import pytest
from family_dumps import OLD_STALLS, Table, dump, recovery, table_event
from log_texts import FAMILY, compaction, flush, line, log, stalls

from lsmtune.analysis.inspect.document import inspection_document
from lsmtune.analysis.inspect.inspection import Inspection
from lsmtune.analysis.inspect.read import inspect_path
from lsmtune.analysis.inspect.study import study_files, tuned_family
from lsmtune.api.inspect_study import study_of
from lsmtune.cli.main import run
from lsmtune.errors import UserError
from lsmtune.metrics.compaction_table import parse_compaction_tables, parse_stall_summary
from lsmtune.metrics.families import FamilySum, that_matter
from lsmtune.metrics.log_dump import parse_compacted_bytes, parse_stats_dump
from lsmtune.metrics.log_reader import read_log
from lsmtune.metrics.options_file import parse_options
from lsmtune.report.inspect_page import render_inspections
from lsmtune.report.text.inspect_families import (
    family_rows,
    has_several,
    named_families,
    option_groups,
    shown_levels,
)
from lsmtune.report.text.inspect_words import stall_rows
from lsmtune.spec import make_spec
from lsmtune.units import GIB, MIB

EMPTY = Table(0, "0.00 KB")
FAMILIES = ("default", "users", "orders")


def inspected(tmp_path: Path, text: str, family: str | None = None) -> Inspection:
    path = tmp_path / "LOG"
    path.write_text(text)
    return inspect_path(path, family)


def sums(found: Inspection) -> dict[str, FamilySum]:
    return {one.name: one for one in found.family_sums}


def test_the_last_table_of_each_family_counts_although_the_last_dump_lacks_it(
    tmp_path: Path,
) -> None:
    text = log(
        dump(600, {"default": EMPTY, "users": Table(3, "40.00 MB"), "orders": Table(2, "9.00 MB")}),
        dump(1200, {"users": Table(4, "55.00 MB")}),
        dump(1800, {}),
        families=FAMILIES,
    )
    found = inspected(tmp_path, text)
    assert found.main_family == "users"
    assert {name: table.sum and table.sum.files for name, table in found.tables.items()} == {
        "default": 0, "users": 4, "orders": 2,
    }  # fmt: skip
    assert sums(found)["orders"].size_bytes == 9 * MIB
    assert sums(found)["default"].is_empty
    assert [timed.dump.uptime_s for timed in found.dumps] == [600, 1200, 1800]


def test_a_table_that_is_cut_off_does_not_replace_a_whole_one(tmp_path: Path) -> None:
    cut = Table(9, "90.00 MB", is_cut=True)
    whole = {"default": EMPTY, "users": Table(3, "40.00 MB", stalls=2)}
    found = inspected(
        tmp_path,
        log(dump(600, whole), dump(1200, {"users": cut}), families=FAMILIES[:2]),
    )
    assert sums(found)["users"].files == 3
    assert sums(found)["users"].stalls == 2


def test_bytes_of_families_that_a_dump_leaves_out_are_not_lost() -> None:
    first = {"users": Table(3, "4.00 GB", 7.0), "orders": Table(2, "1.00 GB", 2.0)}
    lines = log(dump(600, first), dump(1200, {"orders": Table(2, "1.50 GB", 2.5)}))
    content = read_log(lines.split("\n"))
    assert [timed.dump.compacted_bytes for timed in content.dumps] == [9 * GIB, 9.5 * GIB]
    assert parse_compacted_bytes(content.dump_text) == 9.5 * GIB


def test_a_sum_that_a_dump_has_twice_counts_once() -> None:
    block = Table(3, "4.00 GB", 7.0).text("users", 600)
    assert parse_compacted_bytes(f"{block}\n{block}\n") == 7 * GIB


def test_the_uptime_is_that_of_the_database_and_not_that_of_a_young_family() -> None:
    text = dump(1200, {"default": EMPTY, "users": Table(1, "1.00 MB", uptime_s=30)})
    found = parse_stats_dump(text)
    assert found is not None
    assert found.uptime_s == 1200


def test_a_new_opening_forgets_the_tables_before_it(tmp_path: Path) -> None:
    first = log(dump(600, {"users": Table(3, "40.00 MB")}), families=FAMILIES)
    found = inspected(tmp_path, first + log(dump(700, {"default": EMPTY}), families=FAMILIES))
    assert found.tables.keys() == {"default"}


def test_a_dropped_family_is_left_out(tmp_path: Path) -> None:
    tables = {"default": EMPTY, "users": Table(3, "40.00 MB"), "orders": Table(2, "9.00 MB")}
    known = [line(0, f"[x.cc:1] Column family [{name}] (ID {number}), log number is 4")
             for number, name in enumerate(FAMILIES)]  # fmt: skip
    gone = line(700, "[x.cc:2] Dropped column family with id 1")
    text = log(*known, dump(600, tables), gone, families=FAMILIES)
    found = inspected(tmp_path, text)
    assert found.main_family == "orders"
    assert found.tables.keys() == sums(found).keys() == {"default", "orders"}
    again = line(800, "[x.cc:3] Created column family [users] (ID 3)")
    text = log(*known, dump(600, tables), gone, again, dump(900, tables), families=FAMILIES)
    assert inspected(tmp_path, text).main_family == "users"


def test_a_store_of_hundreds_of_families_keeps_one_block_of_each() -> None:
    names = [f"day{number}" for number in range(300)]
    dumps = [dump(at, {name: Table(2, "5.00 MB") for name in names}) for at in (600, 1200, 1800)]
    content = read_log(log(*dumps, families=names).split("\n"))
    assert len(parse_compaction_tables(content.dump_text)) == len(names)
    assert len(content.dump_text) < len(dumps[0])


def test_the_family_that_wrote_most_is_the_main_one(tmp_path: Path) -> None:
    jobs = [flush(9, 3, family="orders", data=64 << 20), flush(12, 4, family="users")]
    big = {"default": EMPTY, "users": Table(9, "7.00 GB"), "orders": Table(2, "60.00 MB")}
    found = inspected(tmp_path, log(*jobs, dump(30, big), families=FAMILIES))
    assert found.main_family == "orders"
    few = [flush(9, 3, family="orders"), flush(12, 4, family="users")]
    assert inspected(tmp_path, log(*few, dump(30, big), families=FAMILIES)).main_family == "users"


def test_bytes_of_recovery_are_bytes_of_a_family(tmp_path: Path) -> None:
    made = recovery(1, ["users"], num_entries=1000, raw_key_size=24_000, raw_value_size=50_000)
    found = inspected(tmp_path, log(made, families=FAMILIES))
    assert found.main_family == "users"
    assert sums(found)["users"].written_bytes == 50_000
    assert sums(found)["orders"].written_bytes == 0
    assert found.jobs == ()


@pytest.mark.parametrize("form", [OLD_STALLS, None])
def test_stalls_are_counted_by_family(tmp_path: Path, form: str | None) -> None:
    kind = {} if form is None else {"stall_form": form}
    tables = {
        "default": Table(5, "200.00 MB", 2.0, 1, **kind),
        "users": Table(30, "4.00 GB", 30.0, 60, **kind),
    }
    text = dump(600, tables, stalled="00:04:0.000 H:M:S, 40.0")
    assert {name: sum(counts.values()) > 0 for name, counts in
            parse_stall_summary(text + "\n").by_family.items()} == {
        "default": True, "users": True,
    }  # fmt: skip
    found = inspected(tmp_path, log(text, families=FAMILIES[:2]))
    assert {name: one.stalls for name, one in sums(found).items()} == {"default": 1, "users": 60}
    noisy = [finding for finding in found.findings if finding.code == "noisy-family"]
    assert [finding.family for finding in noisy] == ["users"]
    stalled = [finding for finding in found.findings if "users 60" in finding.context]
    assert stalled
    assert {finding.family for finding in stalled} == {"users"}


def test_stalls_of_two_families_are_not_blamed_on_one(tmp_path: Path) -> None:
    tables = {"default": Table(5, "2.00 GB", 20.0, 30), "users": Table(30, "4.00 GB", 30.0, 40)}
    text = log(dump(600, tables, stalled="00:04:0.000 H:M:S, 40.0"), families=FAMILIES[:2])
    found = inspected(tmp_path, text)
    assert "noisy-family" not in {finding.code for finding in found.findings}


def test_the_times_of_stalls_name_their_families(tmp_path: Path) -> None:
    warned = [
        *stalls("we have 24 level-0 files"),
        *stalls("we have 37 level-0 files", family="users", stop=True),
    ]
    jobs = [flush(30, 3), flush(31, 4, family="users")]
    found = inspected(tmp_path, log(sorted(warned), *jobs, families=FAMILIES[:2]))
    labels = [label for label, *_ in stall_rows(found)]
    assert len(labels) == 2
    assert any("(in users)" in label and "stopped" in label for label in labels)
    assert any("(in default)" in label and "slowed" in label for label in labels)
    one = inspected(tmp_path, log(stalls("we have 24 level-0 files"), flush(30, 3)))
    assert ["(in " in label for label, *_ in stall_rows(one)] == [False]


def test_at_most_three_families_are_shown_with_the_reason(tmp_path: Path) -> None:
    tables = {f"day{number}": Table(number, f"{number}.00 MB") for number in range(1, 8)}
    found = inspected(tmp_path, log(dump(600, tables), families=[*tables]))
    assert [row[0] for row in family_rows(found)] == ["day7", "day6", "day5"]
    assert "25 %" in family_rows(found)[0][-1]
    assert {level.family for level in shown_levels(found)} == {"day7", "day6", "day5"}
    assert len(inspection_document(found)["families"]) == 7
    assert "day7" in render_inspections([found])


def test_a_family_with_stalls_matters_more_than_one_with_bytes() -> None:
    given = [FamilySum("a", 9, 900, 90 << 20), FamilySum("b", 5, 500, 50 << 20),
             FamilySum("c", 4, 400, 40 << 20), FamilySum("d", 1, 1, 0, 60),
             FamilySum("e", 0, 0, 0)]  # fmt: skip
    assert [one.name for one in that_matter(given, "a")] == ["a", "d", "b"]
    assert [one.name for one in that_matter(given[4:], "e")] == ["e"]


def test_equal_options_of_families_are_listed_once(tmp_path: Path) -> None:
    head, *rest = log(families=FAMILIES).split("--------------- Options for column family")
    changed = [part.replace("write_buffer_size: 67108864", "write_buffer_size: 8388608", 1)
               for part in rest[1:]]  # fmt: skip
    mark = "--------------- Options for column family"
    found = inspected(tmp_path, mark.join([head, rest[0], *changed]))
    groups = option_groups(found)
    assert groups[-1][0] == "only in users, orders"
    assert groups[-1][1]["write_buffer_size"].value == "8388608"
    assert sum("write_buffer_size" in changes for _, changes in groups) == 1
    assert {"users.write_buffer_size", "orders.write_buffer_size"} <= found.options_changed.keys()
    alike = inspected(tmp_path, log(families=FAMILIES, family={"write_buffer_size": 8 << 20}))
    assert [heading for heading, _ in option_groups(alike)] == [None]


def test_a_file_without_data_has_names_and_no_table_of_families(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "OPTIONS"
    sections = [f'[CFOptions "cf{number}"]\n  write_buffer_size=8388608' for number in range(9)]
    path.write_text("\n".join(["[Version]\n  rocksdb_version=6.7.3", "[DBOptions]", *sections, ""]))
    found = inspect_path(path)
    assert not has_several(found)
    assert named_families(found) is not None
    assert [heading for heading, _ in option_groups(found)] == [None]
    assert run(["inspect", str(path)]) == 0
    assert "9 column families" in capsys.readouterr().out
    assert named_families(inspect_path(path, "cf3")) is None


def two_families() -> str:
    jobs = [flush(9, 3, family="users", data=64 << 20, raw_key_size=40_000, raw_value_size=90_000),
            compaction(20, 4, family="users", written=90 << 20),
            flush(30, 5, raw_key_size=24_000, raw_value_size=500_000)]  # fmt: skip
    tables = {"default": Table(1, "1.00 MB"), "users": Table(8, "99.00 MB")}
    tickers = {"number.keys.read": 500, "number.keys.written": 500}
    return log(*jobs, dump(60, tables, tickers=tickers), families=("default", "users"))


def test_one_family_is_shown_alone(tmp_path: Path) -> None:
    whole = inspected(tmp_path, two_families())
    assert whole.main_family == "users"
    assert whole.load.value_bytes == pytest.approx(90)
    one = inspected(tmp_path, two_families(), "default")
    assert one.main_family == "default"
    assert one.load.value_bytes == pytest.approx(500)
    assert one.load.read_percent == whole.load.read_percent == pytest.approx(50)
    assert {level.family for level in one.levels} == {"default"}
    assert {job.family for job in one.jobs} == {"default"}
    assert one.options.keys() == {"", "default"}
    assert one.needed == whole.needed
    assert sums(one).keys() == {"default", "users"}


def test_an_unknown_family_is_refused_with_the_names(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"^family: unknown column family 'user'.*'users'"):
        inspected(tmp_path, two_families(), "user")
    path = tmp_path / "OPTIONS"
    path.write_text('[DBOptions]\n  a=1\n[CFOptions "cf"]\n  write_buffer_size=1\n')
    assert inspect_path(path, "cf").options.keys() == {"", "cf"}
    with pytest.raises(UserError, match="cf"):
        inspect_path(path, "other")


def test_a_study_is_made_of_the_family_with_most_bytes(tmp_path: Path) -> None:
    found = inspected(tmp_path, two_families())
    files = study_files(found, "O")
    study = tomllib.loads(files.study)
    assert study["family"] == "users"
    assert make_spec({**study, "rocksdb": "11.8.1"}, "study").family == "users"
    assert 'CFOptions "users"' in parse_options(files.options).sections
    assert study["workload"]["value_size"] == 90
    sentence = tuned_family(found)
    assert sentence is not None
    assert "users" in sentence
    assert "default" in sentence
    assert "users" in files.study.partition("base =")[0]
    assert tuned_family(inspected(tmp_path, log(flush(9, 3)))) is None


def test_a_study_of_an_empty_family_is_refused(tmp_path: Path) -> None:
    tables = {"default": EMPTY, "users": Table(8, "99.00 MB")}
    text = log(dump(60, tables), families=("default", "users"))
    with pytest.raises(UserError, match=r"'default' has no data.*users \(99 MiB\)"):
        study_of(tmp_path / "s.toml", [inspected(tmp_path, text, "default")])
    made = study_of(tmp_path / "s.toml", [inspected(tmp_path, text)])
    assert tomllib.loads(made.study)["family"] == "users"
    nothing = log(dump(60, {"default": EMPTY, "users": EMPTY}), families=("default", "users"))
    study_of(tmp_path / "s.toml", [inspected(tmp_path, nothing)])


def test_the_command_shows_one_family(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "LOG").write_text(two_families())
    assert run(["inspect", str(tmp_path / "LOG")]) == 0
    both = capsys.readouterr().out
    assert "users L0" in both
    assert "default L0" in both
    assert run(["inspect", str(tmp_path / "LOG"), "--family", "default"]) == 0
    assert "users L0" not in capsys.readouterr().out
    assert run(["inspect", str(tmp_path / "LOG"), "--family", "nobody"]) == 2


def test_a_family_name_that_options_files_escape_is_found_again(tmp_path: Path) -> None:
    name = "a#b\\c"
    text = log(flush(9, 3, family=name, data=64 << 20), families=("default", name))
    files = study_files(inspected(tmp_path, text), "O")
    assert f'CFOptions "{name}"' in parse_options(files.options).sections
    assert tomllib.loads(files.study)["family"] == name


def test_the_options_of_the_log_are_those_of_the_family(tmp_path: Path) -> None:
    assert FAMILY["write_buffer_size"] == 64 << 20
    made = table_event(2, 9, "users", num_entries=10)
    found = inspected(tmp_path, log([made], families=("default", "users")))
    assert found.main_family == "default"


def test_families_whose_options_rocksdb_does_not_print_have_those_of_all_others(
    tmp_path: Path,
) -> None:
    """ColumnFamilyData in db/column_family.cc prints the options of the first ten families."""
    names = [f"f{n:02}" for n in range(12)]
    text = log(
        *((0.4, "[db/column_family.cc:624] \t(skipping printing options)") for _ in names[10:]),
        *((0.5, f"[db/version_set.cc:5722] Column family [{name}] (ID {n}), log number is 4")
          for n, name in enumerate(names)),
        stalls("we have 24 level-0 files", family="f11"),
        families=tuple(names[:10]),
    )  # fmt: skip
    found = inspected(tmp_path, text)
    assert found.assumed_families == ("f10", "f11")
    assert [*sums(found)] == names
    assert found.family_number("f11", "write_buffer_size") == FAMILY["write_buffer_size"]
    blamed = {finding.family for finding in found.findings if "stall" in finding.evidence}
    assert blamed == {"f11"}
    assert not [need for need in found.needed if need.startswith("all options")]
    files = study_files(inspected(tmp_path, text, "f11"), "base.OPTIONS")
    assert parse_options(files.options).sections['CFOptions "f11"']["write_buffer_size"]
