"""Run ``docs/tutorial.md``, block by block, in an empty folder, and compare the output.

python -m docs.tutorial            write outputs that differ into the page, unless they have lines left out
python -m docs.tutorial --check    exit 1 if an output differs
python -m docs.tutorial --check --installed    the same with the installed htppower instead of this checkout's

A block with a caption is a file. In a ``console`` block each line after ``$`` is a command, and the lines below are its
output; a line ``...`` stands for any lines. ``python host.py`` waits for Enter, which is pressed at the next ``text``
block; that block has the rest of its output. The ``sh`` blocks install htppower and prepare the folder, and each has
a ``powershell`` block below it. Here only the folder is prepared; a test compares the first ``sh`` block with the
README's, which the checks run.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PAGE = Path(__file__).parent / "tutorial.md"
_ROOT = PAGE.parents[1]
_BLOCK = re.compile(r"^```(?P<kind>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_CAPTION = re.compile(r":caption: (?P<name>.*)\n\n")
_HOST = "python host.py"
_WAITS = "press Enter\n"
_TIMEOUT_S = 60
# The host writes its status at most once a second; a reader tries again until it is there.
_STATUS_S = 20
_LOOK_AGAIN_S = 0.2


class Walk:
    """Walks through the page in a folder, with the installed htppower or this checkout's."""

    def __init__(self, folder: Path, *, installed: bool) -> None:
        self._folder = folder
        self._host: subprocess.Popen[str] | None = None
        tools = folder.parent / "bin"
        tools.mkdir()
        for name, words in (("python", ""), ("htppower", " -m htppower")):
            (tools / name).write_text(f'#!/bin/sh\nexec "{sys.executable}"{words} "$@"\n', encoding="utf-8")
            (tools / name).chmod(0o755)
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        plain = {"NO_COLOR": "1", "COLUMNS": "80", "PYTHONUNBUFFERED": "1", "PATH": path}
        checkout = {} if installed else {"PYTHONPATH": str(_ROOT)}
        inherited = {name: text for name, text in os.environ.items() if name not in ("FORCE_COLOR", "PYTHONPATH")}
        self._environment = inherited | plain | checkout

    def block(self, kind: str, body: str) -> str:
        """Run a block; return it with its present output."""
        if caption := _CAPTION.match(body):
            file = self._folder / caption["name"]
            file.write_text(body[caption.end() :], encoding="utf-8")
            return body
        if kind == "console":
            return "".join(self._command(*command) for command in _commands(body))
        if kind == "text":
            return _merged(body, self._press_enter())
        if kind == "sh" and "mkdir" in body:
            (self._folder / "my-profiles" / "tests").mkdir(parents=True)
        return body

    def end(self) -> None:
        """Leave no host behind."""
        if self._host is not None:
            self._host.kill()
            self._host.wait()

    def _command(self, command: str, said: str) -> str:
        if command == _HOST:
            return f"$ {command}\n{_merged(said, self._start_host())}"
        give_up = time.monotonic() + (_STATUS_S if self._host else 0)
        while True:
            printed, _ = self._popen(command).communicate(timeout=_TIMEOUT_S)
            told = _merged(said, printed)
            if told == said or time.monotonic() >= give_up:
                return f"$ {command}\n{told}"
            time.sleep(_LOOK_AGAIN_S)

    def _start_host(self) -> str:
        self._host = self._popen(_HOST)
        printed = ""
        for line in self._host.stdout or ():
            printed += line
            if line.endswith(_WAITS):
                break
        return printed

    def _press_enter(self) -> str:
        if self._host is None:
            return ""
        printed, _ = self._host.communicate("\n", timeout=_TIMEOUT_S)
        self._host = None
        return printed

    def _popen(self, command: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        return subprocess.Popen(  # noqa: S603 - the page is ours
            ["/bin/sh", "-c", command if command != _HOST else f"exec {command}"],
            cwd=self._folder, env=self._environment, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip


def _commands(body: str) -> Iterator[tuple[str, str]]:
    """Yield each command with its output in the page."""
    for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
        command, _, said = part.partition("\n")
        yield command, said


def _merged(said: str, printed: str) -> str:
    """Return the page's output if it matches the present output, else the present output."""
    parts = (re.escape(part) for part in re.split(r"^\.\.\.\n", said, flags=re.MULTILINE))
    return said if re.fullmatch("(?:.*\n)*?".join(parts), printed) else printed


def walked(text: str, *, installed: bool = False) -> str:
    """Return a page with the present output of its commands."""
    with tempfile.TemporaryDirectory() as base:
        folder = Path(base, "tutorial")
        folder.mkdir()
        walk = Walk(folder, installed=installed)
        try:
            return _BLOCK.sub(lambda block: f"```{block['kind']}\n{walk.block(block['kind'], block['body'])}```", text)
        finally:
            walk.end()


def main(arguments: list[str]) -> int:
    """Write the page, or with ``--check`` compare it; return the exit code."""
    if arguments not in ([], ["--check"], ["--check", "--installed"]):
        sys.stderr.write(f"{__doc__}\n")
        return 2
    text = PAGE.read_text(encoding="utf-8")
    made = walked(text, installed="--installed" in arguments)
    if made == text:
        return 0
    if not arguments:
        PAGE.write_text(made, encoding="utf-8")
        return 0
    old, new = text.splitlines(), made.splitlines()
    differs = next((number for number, pair in enumerate(zip(old, new, strict=False)) if pair[0] != pair[1]), len(old))
    found = "\n".join(new[differs : differs + 12])
    sys.stderr.write(f"{PAGE.name}:{differs + 1}: not what is printed now, which is:\n{found}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
