#!/usr/bin/env python3
"""Writes constraints.txt and the lock files: `python scripts/lock.py [--upgrade]`.

Run it after a change of the dependencies in pyproject.toml. uv resolves them in a temporary virtual
environment, for CPython 3.11 or newer on Linux. Versions in constraints.txt stay where they fit;
with --upgrade, all become the newest.

- constraints.txt has a version for each package of lsmtune and of all extras, for users.
- The lock files have these versions and the SHA-256 of each file in the registry, for
  `pip install --require-hashes -r FILE`. requirements.lock has what `make setup` installs,
  requirements-native.lock what builds the simulator; requirements-docs.lock and
  requirements-wheels.lock have what `make docs` and `make wheels` add.
"""

import argparse
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
UV = "uv==0.13.9"
CONSTRAINTS = "constraints.txt"
_HEADER = "# Written by scripts/lock.py.\n"
_PLATFORM = "platform_python_implementation == 'CPython' and sys_platform == 'linux'"
"""The condition that uv adds to each version, from its table in pyproject.toml."""


def added() -> dict[str, list[str]]:
    """Return the requirements of each lock file but requirements.lock."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    native = tomllib.loads((ROOT / "native" / "lsmsim-py" / "pyproject.toml").read_text())
    return {
        "requirements-native.lock": native["build-system"]["requires"],
        "requirements-docs.lock": project["optional-dependencies"]["docs"],
        "requirements-wheels.lock": project["optional-dependencies"]["build"],
    }


def resolve(uv: Path, output: str, *flags: str, requirements: str | None = None) -> None:
    """Write the versions of pyproject.toml, or of the given requirements."""
    # No address of a registry may come into the file, so nothing of uv's own header.
    command = [
        str(uv), "pip", "compile", "--quiet", "--universal", "--python-version", "3.11",
        "--no-header", "--no-annotate", "--output-file", output, *flags,
        "pyproject.toml" if requirements is None else "-",
    ]  # fmt: skip
    subprocess.run(
        command, cwd=ROOT, input=requirements, stdout=subprocess.DEVNULL, text=True, check=True
    )
    file = ROOT / output
    text = file.read_text().replace(f" ; {_PLATFORM}", "").replace(f" and {_PLATFORM}", "")
    file.write_text(_HEADER + text)


def main() -> None:
    """Write all files."""
    parser = argparse.ArgumentParser(description="Write constraints.txt and the lock files.")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    upgrade = ["--upgrade"] if parser.parse_args().upgrade else []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, "-m", "venv", folder], check=True)
        binaries = Path(folder) / "bin"
        pip = [str(binaries / "python"), "-m", "pip", "install", "--quiet"]
        subprocess.run([*pip, "--disable-pip-version-check", UV], check=True)
        uv = binaries / "uv"
        resolve(uv, CONSTRAINTS, "--all-extras", *upgrade)
        locked = ["--generate-hashes", "--constraints", CONSTRAINTS]
        resolve(uv, "requirements.lock", "--extra", "dev", *locked)
        for output, requirements in added().items():
            resolve(uv, output, *locked, requirements="\n".join(requirements))


if __name__ == "__main__":
    main()
