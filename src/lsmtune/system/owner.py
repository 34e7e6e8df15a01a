"""Who a file belongs to."""

import os
import pwd
from pathlib import Path


def other_owner(path: Path) -> str | None:
    """Return the user that the file belongs to; None if that is the caller or root.

    Root is nobody else: who is root can start programs as any user.
    """
    owner = path.stat().st_uid
    if owner in (0, os.geteuid()):
        return None
    try:
        return f"user {pwd.getpwuid(owner).pw_name}"
    except KeyError:
        return f"user {owner}"
