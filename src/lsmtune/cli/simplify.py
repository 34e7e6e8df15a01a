"""`lsmtune simplify`: the winner with fewer changed options."""

from lsmtune.cli.flags import (
    DEFAULT_HOME,
    AcceptNoise,
    Certificates,
    Home,
    Insecure,
    Json,
    OnHosts,
    StudyName,
)
from lsmtune.cli.output import ask


def simplify(
    study: StudyName,
    accept_noise: AcceptNoise = False,
    hosts: OnHosts = None,
    certificates: Certificates = None,
    insecure: Insecure = False,
    home: Home = DEFAULT_HOME,
    as_json: Json = False,
) -> None:
    """Take back changes of a study's winner that do not matter, and verify what is left.

    lsmtune takes back first what is predicted to have no effect, then one change after the other.
    A change stays out if the rest keeps nine tenths of the gain. It needs at most 12 runs. Then the
    config with fewer changes is verified in pairs of runs, next to the winner with all changes.
    `lsmtune tune` does the same, unless the flag --no-simplify forbids it.
    """
    from lsmtune.api.on_hosts import on_hosts
    from lsmtune.api.simplify import simplify as run
    from lsmtune.cli.progress import TerminalObserver
    from lsmtune.cli.result_lines import print_verified

    found = run(
        study, home, TerminalObserver(), consent=ask, accept_noise=accept_noise,
        hosts=on_hosts(hosts, certificates, insecure),
    )  # fmt: skip
    print_verified(found, as_json=as_json)
