"""What a Python program reads when it passes something that cannot be used."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lsmtune
from lsmtune.api.run_time import rest_text
from lsmtune.cli.main import run
from lsmtune.spec import make_spec

pytest.importorskip("lsmsim", reason="the native core is not built here")

EXAMPLE = Path(__file__).parents[2] / "examples" / "LOG.gz"
KEYS: dict[str, Any] = {
    "engine": "simulated", "workload": {"num": 20_000}, "trials": 2, "pairs": 0,
    "simplify": False, "repeats": 0,
}  # fmt: skip


@pytest.fixture(scope="module")
def tuned(tmp_path_factory: pytest.TempPathFactory, crowd: None) -> Path:
    """A home with the study s."""
    folder = tmp_path_factory.mktemp("tuned") / "home"
    lsmtune.tune(**KEYS, study="s", home=folder)
    return folder


@pytest.fixture
def home(tuned: Path, tmp_path: Path, own_host: Path) -> Path:
    """The same home for one test."""
    return shutil.copytree(tuned, tmp_path / "home")


def message(call: Callable[[], Any]) -> str:
    with pytest.raises(lsmtune.UserError) as caught:
        call()
    text = str(caught.value)
    assert "\n" not in text
    assert "--" not in text
    return text


PATH, TEXT, NUMBER = "a path, as text or pathlib.Path", "a text", "a whole number"


@pytest.mark.parametrize(
    ("given", "value", "allowed"),
    [
        ({"home": 5}, "5", PATH),
        ({"observer": 5}, "5", "an lsmtune.Observer"),
        ({"observer": lsmtune.Observer}, "<class", "an lsmtune.Observer"),
        ({"cancel": True}, "True", "a threading.Event"),
        ({"accept_noise": "yes"}, "'yes'", "True or False"),
        ({"new_baseline": 1}, "1", "True or False"),
        ({"wait": -1}, "-1", "True, False or a number of seconds"),
        ({"wait": "20s"}, "'20s'", "True, False or a number of seconds"),
        ({"trials": True}, "true", "an integer"),
        ({"pairs": 1.5}, "1.5", "an integer"),
        ({"rocksdb": 11}, "11", "a text in quotes"),
        ({"workload": {"threads": True}}, "true", "an integer"),
    ],
    ids=str,
)
def test_tune_names_argument_value_and_what_is_allowed(
    given: dict[str, Any], value: str, allowed: str, tmp_path: Path
) -> None:
    text = message(lambda: lsmtune.tune(**{**KEYS, "home": tmp_path / "home", **given}))
    (name,) = given
    assert f"{name} = {value}" in text or f"{name}.threads = {value}" in text
    assert text.endswith(f": must be {allowed}")
    assert not (tmp_path / "home").exists()


@pytest.mark.parametrize(
    ("call", "start", "allowed"),
    [
        (lambda: lsmtune.tune(5), "study_file = 5", PATH),  # type: ignore[arg-type]
        (lambda: lsmtune.screen(jobs=1.5), "jobs = 1.5", NUMBER),  # type: ignore[arg-type]
        (lambda: lsmtune.screen(output=5), "output = 5", PATH),  # type: ignore[arg-type]
        (lambda: lsmtune.screen(engine="simulated", jobs=0), "jobs = 0", "at least 1"),
        (lambda: lsmtune.screen(wait="x"), "wait = 'x'", "True, False"),  # type: ignore[arg-type]
        (lambda: lsmtune.sweep(5), "study_file = 5", PATH),  # type: ignore[arg-type]
        (lambda: lsmtune.sweep(hosts=[]), "hosts = []", "an address"),  # type: ignore[arg-type]
        (lambda: lsmtune.verify("s", trial=True), "trial = True", NUMBER),
        (lambda: lsmtune.verify("s", pairs=1.5), "pairs = 1.5", NUMBER),  # type: ignore[arg-type]
        (lambda: lsmtune.verify("s", num="x"), "num = 'x'", NUMBER),  # type: ignore[arg-type]
        (lambda: lsmtune.result(5), "study = 5", TEXT),  # type: ignore[arg-type]
        (lambda: lsmtune.result("s", trial="1"), "trial = '1'", NUMBER),  # type: ignore[arg-type]
        (lambda: lsmtune.studies(5), "home = 5", PATH),  # type: ignore[arg-type]
        (lambda: lsmtune.inspect(5), "path = 5", "a path"),  # type: ignore[arg-type]
        (lambda: lsmtune.inspect([]), "path = []", "a path"),
        (lambda: lsmtune.inspect([5]), "path = 5", PATH),  # type: ignore[list-item]
        (lambda: lsmtune.simulate(batch=5), "batch = 5", PATH),  # type: ignore[arg-type]
        (lambda: lsmtune.simulate(changes=[5]), "changes = [5]", TEXT),  # type: ignore[list-item]
        (lambda: lsmtune.importance("s", repeats=True), "repeats = True", NUMBER),
    ],
)
def test_other_functions_name_argument_value_and_what_is_allowed(
    call: Callable[[], Any], start: str, allowed: str
) -> None:
    assert message(call).startswith(f"{start}: must be {allowed}")


def test_a_result_names_the_argument_of_its_files(home: Path) -> None:
    result = lsmtune.result("s", home=home)
    assert message(lambda: result.export(base=5)).startswith("base = 5: must")  # type: ignore[arg-type]
    assert message(lambda: result.page(5)).startswith("path = 5: must")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda home: lsmtune.result("t", home=home), "home = "),
        (lambda home: lsmtune.result("s", home=home / "none"), "home = "),
        (lambda home: lsmtune.result("s", home=home, trial=99), "trial = 99: "),
        (lambda home: lsmtune.verify("s", home=home, scale="5"), "scale: "),
        (lambda home: lsmtune.verify("s", home=home, num=10), "num = 10: "),
        (lambda home: lsmtune.screen(runs=3, home=home), "screen={'runs'"),
        (lambda home: lsmtune.screen(trails=3, home=home), "lsmtune.screen: "),
        (lambda home: lsmtune.screen(engine="simulated", hosts=2, jobs=2, home=home), "hosts"),
        (lambda home: lsmtune.sweep(home=home), "lsmtune.sweep: "),
        (lambda home: lsmtune.sweep(sweep={}, trials=3, home=home), "trials: "),
        (lambda home: lsmtune.sweep(sweep={}, certificates="c", home=home), "certificates: "),
        (lambda home: lsmtune.simulate(changes="block_size"), "changes: "),
        (lambda home: lsmtune.simulate(study="s", batch="b", home=home), "study and batch"),
        (lambda home: lsmtune.importance(home=home), "study or batch"),
        (lambda home: lsmtune.inspect(EXAMPLE, family="x"), "family: "),
        (lambda home: lsmtune.inspect([EXAMPLE, __file__]), "path: "),
        (lambda home: lsmtune.tune(**{**KEYS, "seed": 2}, study="s", home=home), "another study"),
        (
            lambda home: lsmtune.tune(**KEYS, study="t", new_baseline=True, home=home),
            "new_baseline",
        ),
        (lambda home: lsmtune.tune(**KEYS, family="x", home=home), "base"),
    ],
)
def test_errors_of_all_layers_name_arguments_not_flags(
    call: Callable[[Path], Any], names: str, home: Path
) -> None:
    assert names in message(lambda: call(home))


def test_the_command_line_names_flags_in_the_same_errors(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = ["--home", str(home)]
    assert run(["show", "t", *place]) == 2
    assert f"lsmtune: --home {home}: unknown study 't'" in capsys.readouterr().err
    assert run(["verify", "s", "--num", "10", *place]) == 2
    assert "lsmtune: --num 10: must be at least 1000" in capsys.readouterr().err
    assert run(["simulate", "--set", "block_size"]) == 2
    assert "lsmtune: --set: invalid change 'block_size'" in capsys.readouterr().err


def test_a_simulation_is_short_in_a_notebook() -> None:
    simulation = lsmtune.simulate(num=20_000, changes="block_size=8KiB")
    assert repr(simulation) == "<lsmtune.Simulation of defaults, block_size = 8 KiB>"


def test_the_rest_of_a_study_with_a_fixed_number_of_runs_has_one_time() -> None:
    spec = make_spec(KEYS, "test")
    assert rest_text(spec, 3, 10.0) == "the first run took 10 s; the rest takes about 40 s (4 runs)"


def test_one_file_in_a_list_is_read_as_the_file_itself() -> None:
    alone, listed = lsmtune.inspect(EXAMPLE), lsmtune.inspect([EXAMPLE])
    assert (alone.name, alone.findings) == (listed.name, listed.findings)


def test_a_new_baseline_of_a_study_without_runs_needs_no_runs(home: Path) -> None:
    cancel = threading.Event()
    cancel.set()
    with pytest.raises(lsmtune.Cancelled):
        lsmtune.tune(**KEYS, study="t", home=home, cancel=cancel)
    told: list[str] = []

    class Told(lsmtune.Observer):
        def remark(self, text: str) -> None:
            told.append(text)

    new = lsmtune.tune(**KEYS, study="t", home=home, new_baseline=True, observer=Told())
    assert new.study == "t-2"
    assert "too few to guide" in told[0]
