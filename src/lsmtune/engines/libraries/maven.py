"""The download of a jar from Maven."""

import logging
import os
from pathlib import Path
from urllib.parse import urlsplit

import requests
from jgo.maven import MavenContext, Project

from lsmtune.engines.libraries.installed import (
    engines_folder,
    how_to_install,
    installed_engines,
    load_pins,
)
from lsmtune.errors import UserError
from lsmtune.knobs.defaults import nearest_of

_GROUP, _ARTIFACT = "org.rocksdb", "rocksdbjni"
_NEWEST = 5
_PROXIES = ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
"""Variables that name a proxy, in the order in which requests reads them."""

# jgo reports problems in its log too. Without a handler, Python would print them.
logging.getLogger("jgo").addHandler(logging.NullHandler())


def fetch_jar(version: str, folder: Path) -> Path:
    """Download the jar of a version into the folder and return its path.

    Raises UserError if the version is unknown or the registry cannot be reached, OSError if the
    jar cannot be written.
    """
    context = MavenContext(repo_cache=folder)
    project = context.project(_GROUP, _ARTIFACT)
    try:
        return project.at_version(version).artifact().resolve()
    # requests passes some errors of its library on, such as an address that it cannot parse.
    except (requests.RequestException, ValueError) as error:
        raise _unreachable(context, _reason(error, _address(context))) from error
    except RuntimeError as error:  # the registry answered, but not with the jar
        raise _not_served(version, context, project) from error


def _address(context: MavenContext) -> str:
    return next(iter(context.remote_repos.values()))


def _unreachable(context: MavenContext, why: str) -> UserError:
    url = _address(context)
    host = urlsplit(url).hostname
    return UserError(
        f"cannot download from {host}: {why}, and {_proxy_text(url)}; check the network, then run "
        "the command again"
    )


def _proxy_text(url: str) -> str:
    """Return whether a variable names a proxy for the address; a password is not shown."""
    name = next((name for name in _PROXIES if os.environ.get(name)), None)
    if name is None or requests.utils.should_bypass_proxies(url, no_proxy=None):
        return "no proxy is set"
    value = os.environ[name]
    return f"{name} sets a proxy" if "@" in value else f"{name} sets the proxy {value}"


def _reason(error: BaseException, url: str) -> str:
    """Return the first cause in the system's words, without the address and without a password."""
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    causes = [error]
    while (cause := causes[-1].__cause__ or causes[-1].__context__) is not None:
        causes.append(cause)
    for cause in reversed(causes):
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror
    text = str(causes[-1]).rstrip(".")
    return text if text and "@" not in text and url not in text else type(causes[-1]).__name__


def _not_served(version: str, context: MavenContext, project: Project) -> UserError:
    """Return why the registry does not serve the version."""
    project.update()
    known = [component.version for component in project.versions()]
    if not known:
        return _unreachable(context, "the server has no list of RocksDB's versions")
    if version in known:
        return UserError("Maven lists this version but does not serve it; choose another version")
    newest = ", ".join(known[-_NEWEST:])
    return UserError(
        f"Maven has no such version. The newest versions are {newest}; {_nearest_text(version)}"
    )


def _nearest_text(version: str) -> str:
    installed = [engine.record.version for engine in installed_engines(engines_folder())]
    nearest = nearest_of(version, [*installed, *load_pins()])
    if nearest in installed:
        return f"the nearest installed version is {nearest}: add `--rocksdb {nearest}`"
    return f"the nearest version with a known SHA-256 is {nearest}: {how_to_install(nearest)}"
