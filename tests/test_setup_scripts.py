"""The scripts of `make setup`: what they do on a machine that lacks something."""

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT_FOLDER = Path(__file__).parents[1]
SCRIPTS = ROOT_FOLDER / "scripts"
NEEDED = tomllib.loads((ROOT_FOLDER / "native" / "Cargo.toml").read_text())["workspace"]["package"][
    "rust-version"
]
INSTALLED, NOTHING = '[{"default": true}]', "[]"
ROOT, USER = "0", "1000"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with an empty environment, and a PATH with the tools of the scripts only."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / "bin").mkdir()
    for tool in ("dirname", "grep", "head", "mktemp", "rm", "sed", "sort", "touch"):
        # No link: a test that writes a program of this name must not write the machine's.
        write(tmp_path, tool, f'exec {shutil.which(tool)} "$@"')
    return tmp_path


def write(place: Path, name: str, *lines: str) -> None:
    """Put a program on the PATH."""
    path = place / "bin" / name
    with path.open("x") as file:
        file.write("\n".join(["#!/bin/sh", *lines]) + "\n")
    path.chmod(0o755)


def call(place: Path, script: str, argument: str = "lsmtune") -> tuple[int, list[str]]:
    """Exit code and lines on standard error; nothing may be on standard output."""
    done = subprocess.run(
        [SCRIPTS / script, argument], cwd=place, env={"PATH": str(place / "bin")},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.stdout == ""
    return done.returncode, done.stderr.splitlines()


def machine(place: Path, user: str, engines: str, *apt: str) -> Path:
    """A machine with the driver, without db_bench; what `lsmtune engines` and apt-get do.

    Returns the file that exists once apt-get ran.
    """
    (place / ".venv" / ".simulator").touch()
    write(place, "lsmtune", f"echo '{engines}'")
    write(place, "id", f"echo {user}")
    ran = place / "apt-get-ran"
    if apt:
        write(place, "apt-get", f": > {ran}", *apt)
    return ran


@pytest.mark.parametrize(
    ("lines", "code", "messages"),
    [
        (["echo installed"], 0, 0),
        (["echo 'lsmtune: no network' >&2", "exit 2"], 0, 1),
        (["echo Traceback >&2", "exit 1"], 1, 1),
    ],
)
def test_what_cannot_be_installed_does_not_end_the_setup(
    lines: list[str], code: int, messages: int, place: Path
) -> None:
    write(place, "lsmtune", *lines)
    found, said = call(place, "ensure-rocksdb.sh")
    assert (found, len(said)) == (code, messages)


def test_a_db_bench_on_path_is_enough(place: Path) -> None:
    apt_ran = machine(place, ROOT, NOTHING, "exit 0")
    write(place, "db_bench")
    assert call(place, "ensure-db-bench.sh") == (0, [])
    assert not apt_ran.exists()


@pytest.mark.parametrize(("engines", "code"), [(INSTALLED, 0), (NOTHING, 1)])
def test_a_library_is_enough_without_network(place: Path, engines: str, code: int) -> None:
    apt_ran = machine(place, ROOT, engines, "exit 100")
    found, said = call(place, "ensure-db-bench.sh")
    assert found == code
    assert "db_bench" in said[-1]
    apt_ran.unlink()
    assert call(place, "ensure-db-bench.sh")[0] == code
    assert apt_ran.exists() is (engines == NOTHING)  # tried again only where it is needed


@pytest.mark.parametrize(("engines", "code"), [(INSTALLED, 0), (NOTHING, 1)])
def test_a_library_is_enough_without_apt(place: Path, engines: str, code: int) -> None:
    machine(place, ROOT, engines)
    found, said = call(place, "ensure-db-bench.sh")
    assert (found, len(said)) == (code, 1)


def test_a_library_without_the_driver_is_not_enough(place: Path) -> None:
    machine(place, USER, INSTALLED)
    (place / ".venv" / ".simulator").unlink()
    assert call(place, "ensure-db-bench.sh")[0] == 1


def test_the_package_is_installed(place: Path) -> None:
    db_bench = place / "bin" / "db_bench"
    machine(place, ROOT, NOTHING, f": > {db_bench}", f"{shutil.which('chmod')} +x {db_bench}")
    assert call(place, "ensure-db-bench.sh")[0] == 0
    assert db_bench.exists()


def test_an_ordinary_user_installs_no_package(place: Path) -> None:
    apt_ran = machine(place, USER, NOTHING, "exit 0")
    assert call(place, "ensure-db-bench.sh")[0] == 1
    assert not apt_ran.exists()


def build(place: Path) -> tuple[int, list[str], bool]:
    """Let setup build the simulator: exit code, lines on standard error, whether it was built."""
    (place / ".venv" / "bin").mkdir()
    built = place / "built"
    write(place, "../.venv/bin/python", f": > {built}")
    return *call(place, "ensure-simulator.sh"), built.exists()


@pytest.mark.parametrize("version", [f"{NEEDED}.0", "1.100.0-nightly", "2.0.1"])
def test_a_cargo_that_is_new_enough_builds_the_simulator(place: Path, version: str) -> None:
    write(place, "cargo", f"echo 'cargo {version} (d73d2caf9 2024-12-31)'")
    write(place, "cc")
    code, said, is_built = build(place)
    assert (code, len(said), is_built) == (0, 1, True)
    assert (place / ".venv" / ".simulator").exists()


@pytest.mark.parametrize(
    ("programs", "words"),
    [
        ({"cc": ""}, ("cargo is missing", NEEDED)),
        ({"cc": "", "cargo": "echo 'cargo 1.63.0'"}, ("1.63.0", NEEDED, "rustup")),
        ({"cc": "", "cargo": "echo 'cargo 1.9.0 (d73d2caf9)'"}, ("1.9.0", NEEDED, "rustup")),
        ({"cc": "", "cargo": "echo no toolchain >&2; exit 1"}, ("cargo --version", NEEDED)),
        ({"cargo": f"echo 'cargo {NEEDED}.0'"}, ("cc is missing", "apt-get install gcc")),
    ],
)
def test_what_the_build_lacks_is_said_before_it(
    place: Path, programs: dict[str, str], words: tuple[str, ...]
) -> None:
    for name, line in programs.items():
        write(place, name, line)
    code, (said,), is_built = build(place)
    assert (code, is_built) == (0, False)
    assert all(word in said for word in (*words, "db_bench"))


@pytest.mark.parametrize(
    ("pip", "code", "lines"), [("echo a wall of text >&2; exit 1", 1, 3), ("exit 0", 0, 1)]
)
def test_a_pip_that_fails_ends_the_setup_with_a_sentence(
    place: Path, pip: str, code: int, lines: int
) -> None:
    write(place, "python3", "exit 0")  # it is new enough
    (place / ".venv" / "bin").mkdir()
    python = place / ".venv" / "bin" / "python"
    python.write_text(f"#!/bin/sh\n{pip}\n")
    python.chmod(0o755)
    ended, said = call(place, "make-venv.sh", "python3")
    assert (ended, len(said)) == (code, lines)
    assert all(line.startswith("setup: ") for line in (said[0], said[-1]))
    assert code == 0 or "make setup" in said[-1]


@pytest.mark.parametrize(("version", "word"), [("3.9.2", "3.9.2"), (None, "missing")])
def test_a_python_that_is_too_old_ends_the_setup(
    place: Path, version: str | None, word: str
) -> None:
    write(place, "id", f"echo {USER}")
    if version is not None:
        lines = (f'case "$2" in *print*) echo {version} ;; *) exit 1 ;; esac',)
        write(place, "python3", *lines)
    code, (said,) = call(place, "make-venv.sh", "python3")
    assert code == 1
    assert all(each in said for each in (word, "3.11", "apt-get", "PYTHON="))
    assert not (place / ".venv" / "bin").exists()
