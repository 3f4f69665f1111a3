"""The table of commands, which the help shows without importing the commands."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from htppower.tools.cli.commands import COMMANDS, SECTIONS

if TYPE_CHECKING:
    from support.command import Command


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_does_what_the_table_says(name: str) -> None:
    """The table holds the first sentence of each command's own help."""
    entry = COMMANDS[name]
    command = importlib.import_module(entry.module).command
    said = " ".join(command.help.partition("\n\n")[0].split())
    assert command.name == name
    assert said.partition(". ")[0].partition(": ")[0].rstrip(".") == entry.does.rstrip(".")


def test_each_command_stands_in_one_section() -> None:
    """No command is in two sections."""
    assert len(COMMANDS) == sum(map(len, SECTIONS.values()))


def test_an_interrupt_before_a_command_is_called_is_a_line_and_130(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Click's own exit code would not stop a loop in a shell."""

    def interrupted() -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("htppower.tools.cli.main.terminal_width", interrupted)
    result = command.run("list")
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "htppower: interrupted\n")


def test_no_arguments_are_answered_with_the_help(command: Command) -> None:
    """The text of ``-h`` goes to standard error, with the exit code of a usage error."""
    result = command.run()
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr == command.run("-h").stdout
