"""Output of the command, as a page shows it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from htppower.profiles.discovery import shipped_folder
from htppower.tools.cli.main import main as command

EXAMPLES = Path(__file__).parent / "examples"


def run(*arguments: str) -> str:
    """Return the output of the command, with the paths that a reader has."""
    result = CliRunner(env={"COLUMNS": "80"}).invoke(command, [*arguments])
    output = result.output.replace(shipped_folder(), "profiles")
    return output.replace(f"{EXAMPLES}/", "").replace("docs/examples/", "").rstrip()


def console(*arguments: str, words: tuple[str, ...] | None = None, only: str = "") -> str:
    """Return the command line of a reader, and its output.

    Args:
        arguments: the command line that is shown.
        words: the command line that is run, if it is another.
        only: the beginnings of the lines to show; all lines by default.
    """
    said = run(*(words or arguments))
    if only:
        said = "\n".join(line for line in said.splitlines() if line.startswith(only))
    return f"```console\n$ htppower {' '.join(arguments)}\n{said}\n```"
