"""OPTIONS files: reading, and changing values without touching anything else."""

import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lsmtune.errors import ParseError
from lsmtune.metrics.options_file import parse_options, replace_options

CAPTURED = Path(__file__).parents[1] / "data" / "captured"
FILES = sorted(CAPTURED.glob("*/OPTIONS"))
CF = 'CFOptions "default"'
TABLE = 'TableOptions/BlockBasedTable "default"'
SMALL = """# written by hand
[Version]
  rocksdb_version=6.29.5

[DBOptions]
\tmax_background_jobs = 4  # two are not enough
\twal_dir=
  [CFOptions "default"]
    comparator=a\\#b=c
"""


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)
def test_files_that_rocksdb_wrote(path: Path) -> None:
    options = parse_options(path.read_text())
    assert options.rocksdb_version == path.parent.name.split("-")[1]
    assert list(options.sections) == ["Version", "DBOptions", CF, TABLE]
    style = "Universal" if "universal" in path.parent.name else "Level"
    assert options.get(CF, "compaction_style") == f"kCompactionStyle{style}"
    assert options.get(CF, "write_buffer_size") == "1048576"
    statements = sum(len(section) for section in options.sections.values())
    assert statements == sum("=" in line for line in path.read_text().splitlines())


def test_values_are_as_written() -> None:
    options = parse_options(SMALL)
    assert options.get("DBOptions", "max_background_jobs") == "4"
    assert options.get("DBOptions", "wal_dir") == ""
    assert options.get(CF, "comparator") == r"a\#b=c"
    assert options.get(CF, "other") is None
    assert options.get("Other", "comparator") is None
    assert options.rocksdb_version == "6.29.5"


def test_no_version_is_none() -> None:
    assert parse_options("[DBOptions]\n").rocksdb_version is None


def test_the_first_of_two_counts_and_is_changed() -> None:
    text = "[DBOptions]\n  a=1\n  a=2\n"
    assert parse_options(text).get("DBOptions", "a") == "1"
    assert replace_options(text, {("DBOptions", "a"): "3"}) == "[DBOptions]\n  a=3\n  a=2\n"


def test_only_the_value_changes() -> None:
    changed = replace_options(SMALL, {("DBOptions", "max_background_jobs"): "8"})
    assert changed == SMALL.replace("jobs = 4  #", "jobs = 8  #")


def test_a_new_key_stands_behind_the_last_of_its_section() -> None:
    changed = replace_options(SMALL, {("Version", "a"): "1", ("DBOptions", "b"): "2"})
    assert "  rocksdb_version=6.29.5\n  a=1\n\n[DBOptions]" in changed
    assert "\twal_dir=\n\tb=2\n  [CFOptions" in changed


def test_a_new_key_in_an_empty_section() -> None:
    assert replace_options("[DBOptions]", {("DBOptions", "b"): "2"}) == "[DBOptions]\n  b=2"


def test_line_ends_of_windows_stay() -> None:
    text = "[DBOptions]\r\n  a=1\r\n\r\n"
    changed = replace_options(text, {("DBOptions", "a"): "2", ("DBOptions", "b"): "3"})
    assert changed == "[DBOptions]\r\n  a=2\r\n  b=3\r\n\r\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no section"),
        ("a=1\n[DBOptions]", "line 1: .*'a=1'"),
        ("[DBOptions]\n\nnonsense", "line 3: .*nonsense"),
        ("[DBOptions]\n=1", "line 2: "),
        ("[DBOptions]\n[DBOptions]", r"line 2: .*\[DBOptions\]"),
    ],
)
def test_what_is_no_options_file(text: str, message: str) -> None:
    with pytest.raises(ParseError, match=message):
        parse_options(text)


def test_a_missing_section_is_named() -> None:
    with pytest.raises(ParseError, match=r"\[Other\].* a$"):
        replace_options(SMALL, {("Other", "a"): "1"})


@pytest.mark.parametrize(
    ("key", "value"),
    [("a", "1\n  b=2"), ("a", "1 # no"), ("a", " 1"), ("a=b", "1"), ("", "1"), ("[a", "1]")],
)
def test_what_could_not_be_read_back_is_refused(key: str, value: str) -> None:
    with pytest.raises(ParseError, match=re.escape(f"{key}={value!r}")):
        replace_options(SMALL, {("DBOptions", key): value})


WORDS = st.text("abz_019{}=;:.\\#\t ", max_size=12)
CHANGES = st.dictionaries(
    st.tuples(
        st.sampled_from(["Version", "DBOptions", CF]),
        st.sampled_from(["rocksdb_version", "max_background_jobs", "wal_dir", "new", "newer"]),
    ),
    st.one_of(WORDS, st.integers().map(str)),
)


@given(CHANGES, st.sampled_from([SMALL, SMALL.rstrip(), *(path.read_text() for path in FILES)]))
def test_what_is_replaced_is_read_back_and_the_rest_stays(
    changes: dict[tuple[str, str], str], text: str
) -> None:
    before = parse_options(text)
    try:
        changed = replace_options(text, changes)
    except ParseError:
        assert any(value.strip() != value or set(value) & set("#\\") for value in changes.values())
        return
    after = parse_options(changed)
    expected = {name: dict(section) for name, section in before.sections.items()}
    for (section, key), value in changes.items():
        expected[section][key] = value
    assert after.sections == expected
    old_lines, new_lines = text.split("\n"), changed.split("\n")
    touched = len([place for place in changes if before.get(*place) is not None])
    added = len(changes) - touched
    assert len(new_lines) == len(old_lines) + added
    assert len([line for line in old_lines if line not in new_lines]) <= touched


@given(st.text())
def test_any_text_is_options_or_a_parse_error(text: str) -> None:
    for content in (text, f"[DBOptions]\n{text}", f"[DBOptions]\na={text}"):
        with suppress(ParseError):
            options = parse_options(content)
            assert replace_options(content, {}) == content
            for section, statements in options.sections.items():
                same = {(section, key): value for key, value in statements.items()}
                assert replace_options(content, same) == content


def test_names_of_families_are_unescaped() -> None:
    text = '[CFOptions "a\\:\\:b\\#c"]\n  write_buffer_size=1\n'
    (section,) = parse_options(text).sections
    assert section == 'CFOptions "a::b#c"'
    changed = replace_options(text, {(section, "write_buffer_size"): "2"})
    assert changed == text.replace("=1", "=2")
