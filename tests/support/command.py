"""The command, run in the tests' own process, and its golden files."""

from __future__ import annotations

import contextlib
import functools
import json
import re
import signal
from typing import TYPE_CHECKING, Any

from click.testing import CliRunner, Result
from support.checkout import TESTS
from support.shipped import shipped_folder
from support.slashes import json_slashed, slashed

from htppower.tools.cli.main import main

if TYPE_CHECKING:
    from collections.abc import Iterator

GOLDEN = TESTS / "unit" / "tools" / "cli" / "golden"


@functools.cache
def _shipped() -> re.Pattern[str]:
    """Return a pattern that finds the shipped folder, even if its path is wrapped over several lines."""
    broken = r"(?:\n +)?"
    return re.compile(broken.join(map(re.escape, shipped_folder().as_posix())) + r"(/\n +(?=\S))?")


def _without_shipped(text: str) -> str:
    return _shipped().sub(lambda found: "<profiles>/" if found[1] else "<profiles>", text)


@contextlib.contextmanager
def _own_signals() -> Iterator[None]:
    """Restore the signals of the tests' process: a command that holds a profile up leaves them blocked."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class _LikePosix(Result):
    """A result whose texts have paths with slashes."""

    @property
    def output(self) -> str:
        return slashed(super().output)

    @property
    def stdout(self) -> str:
        return slashed(super().stdout)

    @property
    def stderr(self) -> str:
        return slashed(super().stderr)


class Command:
    """The command, run in this process, with its output in a pipe.

    ``columns`` is the value of ``COLUMNS``; None leaves it unset.
    """

    def __init__(self, *, update: bool = False, columns: int | None = None) -> None:
        self._update = update
        self._columns = columns

    def run(self, *args: str, columns: int | None = None) -> Result:
        """Run the command; the result has its output."""
        width = columns or self._columns
        environment = {"COLUMNS": None if width is None else str(width), "LINES": None}
        with _own_signals():
            result = CliRunner(env=environment).invoke(main, list(args), prog_name="htppower")
        result.__class__ = _LikePosix
        assert "Traceback" not in result.output
        return result

    def output(self, *args: str, exit_code: int = 0, columns: int | None = None) -> str:
        """Run the command, and return its output, without the path of the shipped folder."""
        result = self.run(*args, columns=columns)
        assert result.exit_code == exit_code, result.output
        return slashed(_without_shipped(result.stdout))

    def document(self, *args: str, exit_code: int = 0) -> Any:
        """Return the JSON that the command prints, with slashes in its paths, without that of the shipped folder."""
        return json.loads(_without_shipped(json_slashed(self.output(*args, exit_code=exit_code))))

    def assert_golden(self, name: str, *args: str, exit_code: int = 0) -> None:
        """Assert that the output equals the golden file, and that the exit code is this."""
        output = self.output(*args, exit_code=exit_code)
        if output[:1] in ("{", "["):
            output = _without_shipped(json_slashed(output))
        if self._update:
            (GOLDEN / name).write_text(output, encoding="utf-8")
        assert output == (GOLDEN / name).read_text(encoding="utf-8")
