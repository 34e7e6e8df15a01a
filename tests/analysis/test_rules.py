"""Rules: each code is documented, and no rule fires without its evidence."""

import re
from pathlib import Path

from lsmtune.analysis.inspect.read import inspect_path

ROOT = Path(__file__).parents[2]
RULES = ROOT / "src" / "lsmtune" / "analysis" / "inspect"


def test_each_code_has_an_anchor_and_each_anchor_a_code() -> None:
    texts = [path.read_text() for path in RULES.rglob("*.py")]
    codes = {code for text in texts for code in re.findall(r"Finding\(\s*\"([a-z0-9-]+)\"", text)}
    # These codes are put together from the reason of a flush or the kind of a stall.
    codes |= {"wal-limit", "memory-limit", "writes-stopped", "writes-slowed"}
    anchors = set(
        re.findall(r"^### ([a-z0-9-]+)$", (ROOT / "docs" / "findings.md").read_text(), re.M)
    )
    assert codes == anchors


def test_findings_of_several_families_are_one_with_the_evidence_of_the_worst(
    tmp_path: Path,
) -> None:
    line = (
        "2026/11/21-21:{:02}:44.881941 9854 [WARN] [db/column_family.cc:948] [{}] Stopping writes "
        "because we have 36 level-0 files\n"
    )
    path = tmp_path / "warnings"
    families = ["a"] * 2 + ["b"] * 7 + ["c", "d"]
    path.write_text("".join(line.format(at, name) for at, name in enumerate(families)))
    (finding,) = inspect_path(path).findings
    assert finding.family == "a, b, c (4 in all)"
    assert finding.evidence.startswith("In b: ")
    assert "7 times" in finding.evidence
