"""The table of `lsmtune doctor`."""

from lsmtune.cli.checks import Check, check_lines


def test_only_a_check_without_a_note_is_ok() -> None:
    checks = [
        Check("one", True, "fine"), Check("two", True, "busy", "stop it"),
        Check("three", True, "not available: x", "install x"), Check("four", False, "y", "do z"),
    ]  # fmt: skip
    states = {line.split()[0]: line.split()[1] for line in check_lines(checks)}
    assert [states[check.name] for check in checks] == ["ok", "warn", "absent", "FAIL"]
