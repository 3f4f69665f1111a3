"""What the command prints, as a page shows it."""

from __future__ import annotations

from pathlib import Path

from click.testing import CliRunner

from htppower.cli.main import main as command
from htppower.profiles.discovery import shipped_folder

EXAMPLES = Path(__file__).parent / "examples"


def run(*arguments: str) -> str:
    """Return what the command prints, with paths as a reader has them."""
    result = CliRunner(env={"COLUMNS": "80"}).invoke(command, [*arguments])
    output = result.output.replace(shipped_folder(), "profiles")
    return output.replace(f"{EXAMPLES}/", "").replace("docs/examples/", "").rstrip()


def console(*arguments: str, words: tuple[str, ...] | None = None, only: str = "") -> str:
    """Return what a reader types, and what the command prints.

    Args:
        arguments: what the reader types.
        words: what is run, where that is something else.
        only: with what the lines begin that are shown; all are without it.
    """
    said = run(*(words or arguments))
    if only:
        said = "\n".join(line for line in said.splitlines() if line.startswith(only))
    return f"```console\n$ htppower {' '.join(arguments)}\n{said}\n```"
