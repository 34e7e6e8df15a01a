"""README.md and docs/ agree with the program: commands run, and what is generated is current."""

import json
import re
import shlex
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import typer

from fakes.fake_db_bench import install
from lsmtune.cli.main import app, run
from lsmtune.engine_traits import has_versions, usual_engine
from lsmtune.engines.libraries.installed import DEFAULT_VERSION
from lsmtune.simulator import is_installed
from lsmtune.spec import make_spec

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "benchmarks")]

import check_links  # noqa: E402 - these modules are next to the package
import documented  # noqa: E402
import figures  # noqa: E402
import outputs  # noqa: E402
import reference  # noqa: E402

PAGES = documented.pages()
BLOCKS = [block for page in PAGES for block in documented.blocks(page)]
COMMANDS = [block for block in BLOCKS if block.commands]
QUICK = [block for block in COMMANDS if block.runner == documented.QUICK]
QUOTING = [page for page in PAGES if any(b.output_of for b in documented.blocks(page))]
PROGRAM = typer.main.get_command(app)
PATHS = {"/var/lib/store": "store"}
NUM, TRIALS = 20_000, 4
INLINE = re.compile(r"`(lsmtune [^`]+)`")
SOME_STUDY = [
    "tune", "--engine", "simulated", "--base", "OPTIONS-000123", "--num", str(NUM),
    "--trials", str(TRIALS), "--study", "make-tune",
    # so that the small study has a gain to export
    "--limit", "scan_p99_us <= 9 * base", "--limit", "live_sst_bytes <= 9 * base",
]  # fmt: skip


def name(of: "documented.Block | Path") -> str:
    return str(of.relative_to(ROOT)) if isinstance(of, Path) else of.place


def test_figures_of_pages_are_the_recorded_ones() -> None:
    results = figures.recorded()
    assert len(figures.pages()) >= 7
    for page in figures.pages():
        assert page.read_text() == figures.filled(page.read_text(), results), page.name


@pytest.mark.parametrize("page", reference.PAGES)
def test_reference_pages_are_current(page: str) -> None:
    """To write them again: python scripts/reference.py."""
    assert (reference.FOLDER / page).read_text(encoding="utf-8") == reference.generated(page)


@pytest.mark.parametrize(
    ("text", "meaning", "default"),
    [
        ("Number of configs [16].", "Number of configs.", "16"),
        ("Study with a table [sweep]. [required]", "Study with a table [sweep].", "required"),
        ("Metric; repeatable [that of the study].", "Metric; repeatable.", "that of the study"),
        ("Port. [default: 8080; 1<=x<=65535]", "Port. Allowed: 1 to 65535.", "8080"),
        ("Runs [CPUs / 2]. [x>=1]", "Runs. Allowed: at least 1.", "CPUs / 2"),
        ("Folder. [env var: HERE; default: data]", "Folder.", "`$HERE` or data"),
    ],
)
def test_reference_shows_default_of_option(text: str, meaning: str, default: str) -> None:
    assert reference._split_default(text) == (meaning, default)


@pytest.mark.parametrize("page", QUOTING, ids=name)
def test_quoted_outputs_are_current(page: Path) -> None:
    """To write them again: python scripts/outputs.py."""
    assert page.read_text(encoding="utf-8") == outputs.filled(page)


@pytest.mark.parametrize("block", COMMANDS, ids=name)
def test_each_shown_command_is_run_by_a_test_or_benchmark(block: "documented.Block") -> None:
    assert block.runner is not None, "a comment `<!-- run: … -->` is missing before this block"
    runner = ROOT / block.runner
    assert runner.is_file()
    if block.runner in (documented.QUICK, documented.REAL):
        return
    text = runner.read_text()
    for command in block.commands:
        words = command.split()
        assert f'"{words[1]}"' in text, command
        for study in re.findall(r"docs/studies/([\w-]+)\.toml", command):
            assert f'"{study}"' in text, command


def test_commands_with_real_engines_have_run() -> None:
    """To run what is new: benchmarks/docs_commands.py."""
    recorded = ROOT / "benchmarks" / "results" / "docs_commands.json"
    if not recorded.is_file():
        pytest.skip("not measured yet")
    done = json.loads(recorded.read_text())
    shown = [c for b in COMMANDS if b.runner == documented.REAL for c in b.commands]
    assert [command for command in shown if done.get(command, {"exit_code": 0})["exit_code"]] == []
    missing = [command for command in shown if command not in done]
    if missing:
        pytest.skip(f"{len(missing)} of {len(shown)} commands have not been run yet")


def test_shown_commands_and_flags_exist() -> None:
    for page in PAGES:
        shown = [c for block in documented.blocks(page) for c in block.commands]
        shown += INLINE.findall(documented.prose(page))
        for command in shown:
            _, *words = command.split()
            if words and words[0] in PROGRAM.commands:
                known = flags(words[0])
                given = {word.partition("=")[0] for word in words[1:] if word.startswith("-")}
                assert given <= known, f"{name(page)}: {command}"
            else:
                assert not words or not re.fullmatch(r"[a-z]+", words[0]), command


def test_shown_commands_with_a_study_or_file_lack_nothing() -> None:
    """A command without a study or file, such as `lsmtune verify --scale 1`, names a flag only."""
    for page in PAGES:
        shown = [c for block in documented.blocks(page) for c in block.commands]
        shown += INLINE.findall(documented.prose(page))
        for command in shown:
            _, *words = shlex.split(command)
            if len(words) > 1 and words[0] in PROGRAM.commands and not words[1].startswith("-"):
                given = ["1" if word == "N" else word for word in words[1:]]
                PROGRAM.commands[words[0]].make_context(command, given)


def flags(command: str) -> set[str]:
    options = PROGRAM.commands[command].params
    named = {flag for option in options for flag in (*option.opts, *option.secondary_opts)}
    return named | {"-h", "--help"}


def test_shown_study_files_are_studies() -> None:
    studies = [block for block in BLOCKS if block.language == "toml"]
    assert len(studies) >= 5
    for block in studies:
        given = tomllib.loads(block.text)
        load = given.get("workload", {}).get("name", "overwrite")
        if has_versions(given.get("engine", usual_engine(load))):
            given.setdefault("rocksdb", DEFAULT_VERSION)  # of `make setup`
        make_spec(given, block.place)


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with the files and the studies that commands name."""
    folder = tmp_path_factory.mktemp("documented")
    documented.make_sandbox(folder)
    (folder / "state").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("LSMTUNE_HOME", raising=False)
        # The version of the shown LOG is not installed here.
        patch.setenv("LSMTUNE_DB_BENCH", str(install(folder / "bin")))
        for variable in ("XDG_STATE_HOME", "TMPDIR"):
            patch.setenv(variable, str(folder / "state"))
        patch.setattr(tempfile, "tempdir", None)
        if is_installed():
            assert run(SOME_STUDY) == 0
        yield folder


@pytest.mark.skipif(not is_installed(), reason="the simulator is not installed")
@pytest.mark.parametrize("page", dict.fromkeys(block.page for block in QUICK), ids=name)
def test_shown_commands_of_a_page_run_in_their_order(
    page: Path, sandbox: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for command in (c for block in QUICK if block.page == page for c in block.commands):
        given = documented.arguments(command, NUM, TRIALS, PATHS)
        assert run(given) == 0, command
        written = [given[at + 1] for at, word in enumerate(given[:-1]) if word in ("-o", "--page")]
        assert all((sandbox / file).stat().st_size for file in written), command
    capfd.readouterr()


def test_documented_finds_commands_without_a_runner(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```\nlsmtune show x  # why\n```\n\n<!-- run: a.py -->\n```\nlsmtune doctor\n```\n"
    )
    bare, run_by = documented.blocks(page)
    assert (bare.commands, bare.runner) == (("lsmtune show x",), None)
    assert (run_by.commands, run_by.runner) == (("lsmtune doctor",), "a.py")


def test_modules_of_the_pages_are_those_of_this_checkout() -> None:
    modules: list[ModuleType] = [documented, figures, outputs, reference]
    assert all(Path(str(m.__file__)).is_relative_to(ROOT) for m in modules)


def test_broken_links_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "README.md": "# One\n[a](docs/a.md#two) [b](docs/b.md) [c](docs/a.md#three) `[d](no.md)`",
        "docs/a.md": "# Two\n[out](../README.md) [web](https://localhost/)",
        "src/code.py": '"""See docs/a.md and docs/old.md."""',
        "zensical.toml": '[project]\nnav = [{ "A" = "missing.md" }]',
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.setattr(check_links, "ROOT", tmp_path)
    found = [tuple(line.split(": ")[:2]) for line in check_links.broken_links()]
    assert found == [
        ("README.md", "docs/b.md"), ("README.md", "docs/a.md#three"),
        ("docs/a.md", "../README.md"), ("src/code.py", "docs/old.md"),
        ("zensical.toml", "missing.md"), ("zensical.toml", "nav lacks a.md"),
    ]  # fmt: skip
