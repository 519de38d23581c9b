"""The name by which the operating system knows who runs a command, for the audit trail."""

from __future__ import annotations

import getpass
import os


def os_user() -> str:
    """Under sudo, who has called it. A user without a name, as in some containers, is a number."""
    if name := os.environ.get("SUDO_USER"):
        return name
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return f"uid {os.getuid()}"
