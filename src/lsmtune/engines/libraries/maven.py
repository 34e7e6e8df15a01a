"""The download of a jar from Maven."""

import logging
from pathlib import Path

import requests
from jgo.maven import MavenContext, Project

from lsmtune.errors import UserError

_GROUP, _ARTIFACT = "org.rocksdb", "rocksdbjni"
_NEWEST = 5

# jgo reports problems in its log too. Without a handler, Python would print them.
logging.getLogger("jgo").addHandler(logging.NullHandler())


def fetch_jar(version: str, folder: Path) -> Path:
    """Download the jar of a version into the folder and return its path.

    Raises UserError if the version is unknown or the registry cannot be reached, OSError if the
    jar cannot be written.
    """
    project = MavenContext(repo_cache=folder).project(_GROUP, _ARTIFACT)
    try:
        return project.at_version(version).artifact().resolve()
    except requests.RequestException as error:
        raise _unreachable() from error
    except RuntimeError as error:  # the registry answered, but not with the jar
        raise _not_served(version, project) from error


def _unreachable() -> UserError:
    return UserError("cannot download from Maven; check the network, then run the command again")


def _not_served(version: str, project: Project) -> UserError:
    """Return why the registry does not serve the version."""
    project.update()
    known = [component.version for component in project.versions()]
    if not known:
        return _unreachable()
    if version in known:
        return UserError("Maven lists this version but does not serve it; choose another version")
    newest = ", ".join(known[-_NEWEST:])
    return UserError(f"Maven has no such version; the newest versions are {newest}")
