"""Set each knob of the catalogue in each installed RocksDB, and read it back.

    .venv/bin/python benchmarks/knobs_read_back.py [--versions 6.29.5,11.8.1]

A store is opened for each value of each knob, with all other options at their defaults. RocksDB
must write down the value, or a rule of lsmtune must say what it does instead. Prints a line per
version and each difference. The exit code is 1 if there is a difference.
"""

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from fakes.opening import Opener, others  # noqa: E402 - after the path
from lsmtune.engines.libraries.installed import engines_folder, installed_engines  # noqa: E402
from lsmtune.engines.rocksdb.options import option_string  # noqa: E402


def differences(opener: Opener) -> list[str]:
    """Return all that this RocksDB does otherwise than lsmtune says, and print a summary."""
    again = opener.open(option_string(opener.defaults)).options
    found = [] if again == opener.defaults else ["its own defaults are read back as other options"]
    tried = [{k.name: value} for k in opener.knobs for value in others(k, opener.base[k.name])]
    for settings in tried:
        found += opener.faults(settings)
    print(f"{opener.version}: {len(opener.knobs)} knobs, {len(tried)} values, "
          f"{len(found)} differences")  # fmt: skip
    return found


def main() -> None:
    """Try the versions of the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--versions", help="versions with commas between them; default: all")
    chosen = parser.parse_args().versions
    engines = {one.record.version: one for one in installed_engines(engines_folder())}
    versions = list(engines) if chosen is None else chosen.split(",")
    if missing := [version for version in versions if version not in engines]:
        sys.exit(f"not installed: {', '.join(missing)}; lsmtune engines install rocksdb@VERSION")
    failed = False
    for version in versions:
        with tempfile.TemporaryDirectory() as folder:
            found = differences(Opener(engines[version], Path(folder)))
        print("".join(f"  {line}\n" for line in found), end="")
        failed |= bool(found)
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
