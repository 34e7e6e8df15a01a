"""The files of examples/hosts: they can be read, their commands exist, and the pages show them."""

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from lsmtune.cli.main import app
from lsmtune.hosts.certificates import ROLES, files_of

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples" / "hosts"
PROGRAM = typer.main.get_command(app)
PAGES = {
    "ssh.sh": ("hosts-ssh.md", "bash"),
    "lsmtune-worker.service": ("hosts-ssh.md", "ini"),
    "Containerfile": ("hosts-kubernetes.md", "dockerfile"),
    "kubernetes.yaml": ("hosts-kubernetes.md", "yaml"),
    "kubernetes-tune.yaml": ("hosts-kubernetes.md", "yaml"),
    "slurm.sh": ("hosts-slurm.md", "bash"),
}
VARIABLE = re.compile(r'"?\$\{?\w+\}?"?')
COMMAND = re.compile(r"\blsmtune ((?:hosts|worker|tune) [^>|&;`\n]*)")


def documents(name: str) -> list[dict[str, Any]]:
    yaml = pytest.importorskip("yaml")
    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def pods(name: str) -> dict[str, dict[str, Any]]:
    """The specs of the pods of a file by the kind of what makes them."""
    found = {each["kind"]: each["spec"] for each in documents(name)}
    return {kind: spec["template"]["spec"] for kind, spec in found.items() if "template" in spec}


def commands(name: str) -> Iterator[list[str]]:
    """The commands of lsmtune in a file, without `lsmtune`."""
    if not name.endswith(".yaml"):
        text = (FOLDER / name).read_text().replace("\\\n", " ")
        yield from (shlex.split(words) for words in COMMAND.findall(VARIABLE.sub("x", text)))
        return
    for pod in pods(name).values():
        for container in pod["containers"]:
            program, *words = [*container.get("command", ["lsmtune"]), *container.get("args", ())]
            assert program == "lsmtune"
            yield words


def test_each_file_is_shown_on_its_page() -> None:
    assert set(PAGES) == {file.name for file in FOLDER.iterdir()}
    for name, (page, language) in PAGES.items():
        shown = f"```{language}\n{(FOLDER / name).read_text()}```"
        assert shown in (ROOT / "docs" / "how-to" / page).read_text(), name


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ssh.sh", {"hosts", "worker"}),
        ("lsmtune-worker.service", {"worker"}),
        ("slurm.sh", {"hosts", "worker", "tune"}),
        ("kubernetes.yaml", {"hosts", "worker"}),
        ("kubernetes-tune.yaml", {"tune"}),
    ],
)
def test_the_command_line_accepts_the_commands(name: str, expected: set[str]) -> None:
    found = list(commands(name))
    assert {words[0] for words in found} == expected
    for command, *words in found:
        PROGRAM.commands[command].make_context(command, words)


@pytest.mark.parametrize("name", [name for name in PAGES if name.endswith(".sh")])
def test_bash_can_read_the_script(name: str) -> None:
    subprocess.run(["bash", "-n", str(FOLDER / name)], check=True)


def test_a_script_without_arguments_explains_itself_and_starts_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", str(FOLDER / "ssh.sh")], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    for command in ("copy", "scheduler", "workers", "stop"):
        assert f"ssh.sh {command} " in done.stdout
    assert not list(tmp_path.iterdir())


def test_the_script_copies_what_a_worker_needs() -> None:
    text = (FOLDER / "ssh.sh").read_text()
    assert all(f"$KEYS/{file}" in text for file in files_of("worker"))


def test_a_worker_has_a_node_and_whole_cores_for_itself() -> None:
    worker = pods("kubernetes.yaml")["StatefulSet"]
    for container in (*worker["initContainers"], *worker["containers"]):
        resources = container["resources"]
        assert resources["requests"] == resources["limits"]
        assert resources["limits"]["cpu"].isdigit()
    (rule,) = worker["affinity"]["podAntiAffinity"][
        "requiredDuringSchedulingIgnoredDuringExecution"
    ]
    assert rule["topologyKey"] == "kubernetes.io/hostname"
    (stateful,) = [d for d in documents("kubernetes.yaml") if d["kind"] == "StatefulSet"]
    labels = stateful["spec"]["template"]["metadata"]["labels"]
    assert rule["labelSelector"]["matchLabels"] == labels
    assert stateful["spec"]["selector"]["matchLabels"] == labels


def test_each_pod_mounts_what_it_names_and_has_the_keys_of_its_role() -> None:
    roles = set()
    for name in ("kubernetes.yaml", "kubernetes-tune.yaml"):
        for pod in pods(name).values():
            volumes = {volume["name"]: volume for volume in pod["volumes"]}
            for container in (*pod["initContainers"], *pod["containers"]):
                assert {mount["name"] for mount in container["volumeMounts"]} <= set(volumes)
            roles.add(volumes["secret"]["secret"]["secretName"].removeprefix("lsmtune-"))
    assert roles == set(ROLES)


def test_the_workers_find_the_scheduler() -> None:
    services = {
        each["metadata"]["name"]: each["spec"]
        for each in documents("kubernetes.yaml")
        if each["kind"] == "Service"
    }
    (deployment,) = [d for d in documents("kubernetes.yaml") if d["kind"] == "Deployment"]
    scheduler = services["lsmtune-scheduler"]
    assert scheduler["selector"] == deployment["spec"]["template"]["metadata"]["labels"]
    (port,) = scheduler["ports"]
    address = f"tls://lsmtune-scheduler:{port['port']}"
    (worker,) = [words for words in commands("kubernetes.yaml") if words[0] == "worker"]
    (tune,) = commands("kubernetes-tune.yaml")
    assert address in worker
    assert address in tune
