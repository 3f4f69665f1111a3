"""Where the service is: ``HTPPOWER_SOCKET``, or the usual place of this system."""

from __future__ import annotations

import os
from pathlib import Path

VARIABLE = "HTPPOWER_SOCKET"
SOCKET = "/run/htppower/socket"
PIPE = r"\\.\pipe\htppower"


def default_place() -> str:
    """Return the socket, or the named pipe on Windows, that clients and the service use if none is named."""
    return os.environ.get(VARIABLE) or (PIPE if os.name == "nt" else SOCKET)


def include_folder() -> str:
    """Return the folder of ``htppower.h``, the client for C and C++, for a compiler's ``-I``."""
    return str(Path(__file__).resolve().parent / "include")
