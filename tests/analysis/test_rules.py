"""Rules: each code is documented, and no rule fires without its evidence."""

import re
from pathlib import Path

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
