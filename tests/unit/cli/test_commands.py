"""The table of the commands, which help shows without importing them."""

from __future__ import annotations

import importlib

import pytest

from htppower.cli.commands import COMMANDS, SECTIONS


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_does_what_the_table_says(name: str) -> None:
    """The help of all commands says of each the first sentence of its own help."""
    entry = COMMANDS[name]
    command = importlib.import_module(entry.module).command
    said = " ".join(command.help.partition("\n\n")[0].split())
    assert command.name == name
    assert said.partition(". ")[0].partition(": ")[0].rstrip(".") == entry.does.rstrip(".")


def test_each_command_stands_in_one_section() -> None:
    """No name is there twice."""
    assert len(COMMANDS) == sum(map(len, SECTIONS.values()))
