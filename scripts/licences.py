"""Writes native/lsmsim-py/THIRD-PARTY-LICENSES.txt, which the wheel of lsmsim ships.

Run it after each change of native/Cargo.lock. It needs cargo-about, which takes some minutes to
install: `cargo install --locked --features cli cargo-about@0.9.3`. The licences that a crate may
have are in native/about.toml; cargo-about fails at a crate with another one.
"""

import re
import subprocess
import tomllib
from pathlib import Path

NATIVE = Path(__file__).parent.parent / "native"
TEXT = NATIVE / "lsmsim-py" / "THIRD-PARTY-LICENSES.txt"
CRATE = re.compile(r"^  (\S+) (\d\S*)$", re.MULTILINE)
_RULE = "=" * 80


def crates_of_lock() -> set[tuple[str, str]]:
    """Name and version of each crate in Cargo.lock that is not lsmtune's own."""
    lock = tomllib.loads((NATIVE / "Cargo.lock").read_text(encoding="utf-8"))
    return {(crate["name"], crate["version"]) for crate in lock["package"] if "source" in crate}


def licences() -> str:
    """The licence texts, and then the crates of Cargo.lock that no build uses."""
    command = ["cargo", "about", "generate", "--locked", "--workspace", "about.hbs"]
    text = subprocess.run(command, cwd=NATIVE, check=True, stdout=subprocess.PIPE, text=True).stdout
    unused = sorted(crates_of_lock() - set(CRATE.findall(text)))
    lines = [_RULE, "Named in Cargo.lock, but not compiled with the features that lsmtune uses", ""]
    lines += [f"  {name} {version}" for name, version in unused]
    return "\n".join(line.rstrip() for line in [*text.strip().split("\n"), "", *lines, ""])


if __name__ == "__main__":
    TEXT.write_text(licences(), encoding="utf-8")
