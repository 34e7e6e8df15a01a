"""`make myrocks` is killed while packages are installed: it must not forbid services for ever."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[2]
COMMANDS = {
    "id": "echo 0",
    "apt-get": '"$POLICY"; echo $? >"$POLICY.answer"; kill -KILL $PPID',
}


def test_a_killed_setup_allows_services_to_start(tmp_path: Path) -> None:
    policy, programs = tmp_path / "policy-rc.d", tmp_path / "bin"
    programs.mkdir()
    for name, body in COMMANDS.items():
        (programs / name).write_text(f"#!/bin/sh\n{body}\n")
        (programs / name).chmod(0o755)
    for name in ("rm", "chmod", "ls", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    script = (ROOT / "scripts" / "ensure-myrocks.sh").read_text()
    assert "/usr/sbin/policy-rc.d" in script
    here = tmp_path / "ensure-myrocks.sh"
    here.write_text(script.replace("/usr/sbin/policy-rc.d", str(policy)))
    environment = {**os.environ, "PATH": str(programs), "POLICY": str(policy)}
    killed = subprocess.run(["/bin/sh", str(here)], env=environment, check=False)
    assert killed.returncode < 0
    assert Path(f"{policy}.answer").read_text().strip() == "101"  # forbidden while it runs
    assert subprocess.run([policy], env=environment, check=False).returncode == 0
    assert not policy.exists()
