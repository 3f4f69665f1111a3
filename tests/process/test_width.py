"""On a real terminal of any width, without COLUMNS, the command's output fits."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from htppower.tools.report.layout import shown_width

if sys.platform == "win32":
    pytest.skip("terminals of POSIX", allow_module_level=True)

import fcntl
import pty
import struct
import termios

# Every command on every shipped profile, in one process: one process each would be slow.
ALL = """
import sys
from htppower.tools.cli.main import main
from htppower.profiles.discovery import shipped_folder
from htppower.profiles.names import SHIPPED_PROFILES
runs = [["list"], ["diff", "burst", "balanced", "--timeline"], ["lint", str(shipped_folder())], ["show", "relaxed"]]
runs.append(["test", str(shipped_folder()), "-v"])
runs += [["explain", each] for each in ("RPC-6", "DCVS-5", "13004", "NOM")]
for name in SHIPPED_PROFILES:
    runs += [["profile", name, "--dry-run"], ["explain", name], ["explain", name, "votes"], ["diff", "burst", name]]
for name in ("list", "show", "explain", "profile", "status", "doctor", "lint", "diff", "test", "schema", "completion"):
    runs.append([name, "--help"])
for arguments in runs:
    print(">", *arguments[:2])
    try:
        main(arguments, prog_name="htppower")
    except SystemExit as end:
        assert end.code in (0, 1), arguments
print("> the end")
"""
SEQUENCE = re.compile(r"\x1b\[[0-9;]*m")


def printed(width: int) -> list[str]:
    """Return the lines printed on a terminal of this width, with 24 lines."""
    main, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    left_out = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR")
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    with subprocess.Popen(
        [sys.executable, "-c", ALL], stdout=side, stderr=side, env={**environment, "TERM": "xterm"}
    ) as process:
        os.close(side)
        output = b""
        while True:
            try:
                chunk = os.read(main, 65536)
            except OSError:  # The other end is closed.
                break
            if not chunk:
                break
            output += chunk
        os.close(main)
        assert process.wait(60) == 0, output.decode()[-2000:]
    return output.decode().replace("\r\n", "\n").splitlines()


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_terminal_is_filled_and_not_overrun(width: int) -> None:
    """No line is wider than the terminal; it is in colour, and a wide terminal is used."""
    lines = printed(width)
    assert lines[-1] == "> the end"
    assert any(SEQUENCE.search(line) for line in lines)
    plain = [SEQUENCE.sub("", line) for line in lines]
    assert [line for line in plain if shown_width(line) > width] == []
    widest = max(map(shown_width, plain))
    assert widest > width * 0.6
