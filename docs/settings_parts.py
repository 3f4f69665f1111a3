"""The parts of the page on the settings of runtimes, made by running the command."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner

from docs.tables import made_table
from htppower.profiles.discovery import shipped_folder
from htppower.profiles.loading import load_profile
from htppower.tools.cli.main import main as command
from htppower.tools.review.settings_rules import SETTINGS_RULES
from htppower.tools.runtimes.catalogue import RUNTIMES

if TYPE_CHECKING:
    from collections.abc import Callable

_HOST = """options = onnxruntime.RunOptions()
options.add_run_config_entry("qnn.perf_mode", "burst")
"""
_PIPELINE = """qtimltflite external-delegate-options="QNNExternalDelegate,htp_performance_mode=burst;"
"""


def _run(*arguments: str) -> str:
    """Return the command and its output."""
    output = CliRunner(env={"COLUMNS": "80"}).invoke(command, [*arguments]).output
    return f"$ htppower {' '.join(arguments)}\n{output.replace(shipped_folder(), 'profiles').rstrip()}"


def _genai() -> str:
    return f"```console\n{_run('settings', 'balanced', '--for', 'genai')}\n```"


def _runtimes() -> str:
    """Return every runtime with the settings that are made for it."""
    profile = load_profile("burst")
    rows = []
    for name, runtime in RUNTIMES.items():
        made = runtime.write(profile)
        rows.append((f"`{name}`", runtime.title, "; ".join(part.where for part in made.parts), made.known))
    return made_table(("`--for`", "Runtime", "What is made", "What is known"), rows)


def _diff() -> str:
    """Return the words and the counts of a comparison, without its lines."""
    said = _run("diff", "onnxruntime:burst", "vendor:burst").split("\n\n")
    return "\n".join(("```console", said[0].split("\n")[0], "...", "\n\n".join(said[-3:]), "```"))


def _check() -> str:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "host.py").write_text(_HOST, encoding="utf-8")
        Path(folder, "pipeline.sh").write_text(_PIPELINE, encoding="utf-8")
        os.chdir(folder)
        try:
            said = _run("settings", "--check", "host.py", "pipeline.sh")
        finally:
            os.chdir(before)
    return f"```console\n{said}\n```"


def _rules() -> str:
    rows = [(f"`{rule.id}`", rule.says, rule.breach.value, rule.source) for rule in SETTINGS_RULES]
    return made_table(("Id", "Rule", "What follows", "Source"), rows)


PARTS: dict[str, Callable[[], str]] = {
    "settings-genai": _genai,
    "settings-runtimes": _runtimes,
    "settings-diff": _diff,
    "settings-check": _check,
    "settings-rules": _rules,
}
