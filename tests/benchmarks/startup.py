"""Compares the start-up of the command, as a whole process, with Python and the libraries alone.

Other work on the machine can only make a run slower. So the quickest of many runs counts, measured by the processor
time of the process, without waits for a processor. All are run in turn, round by round.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from figures import Figure
from support.shipped import shipped_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY = 1000
ROUNDS = 40
LIBRARIES = "importing click, yaml and attrs alone"
# How much longer than its libraries a command may take.
BEYOND_LIBRARIES_MS = 60
# The same code as the script that an installation makes for the command.
_SCRIPT = ("-c", "import sys; from htppower.__main__ import run; sys.exit(run())")
COMMANDS = (
    ("htppower profile burst --dry-run", (*_SCRIPT, "profile", "burst", "--dry-run"), 200),
    ("htppower list", (*_SCRIPT, "list"), None),
    ("htppower lint burst.yaml", (*_SCRIPT, "lint", str(shipped_folder() / "burst.yaml")), None),
    ("htppower lint, the shipped folder", (*_SCRIPT, "lint", str(shipped_folder())), 120),
    ("htppower diff burst burst", (*_SCRIPT, "diff", "burst", "burst"), 120),
    ("htppower explain burst core", (*_SCRIPT, "explain", "burst", "core"), None),
    ("htppower test, the shipped folder", (*_SCRIPT, "test", str(shipped_folder())), None),
    ("htppower show burst", (*_SCRIPT, "show", "burst"), None),
    ("htppower settings burst", (*_SCRIPT, "settings", "burst", "--for", "onnxruntime"), None),
    (LIBRARIES, ("-c", "import click, yaml, attrs"), None),
    ("Python alone", ("-c", "pass"), None),
)


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the quickest run of each command, and the extra time of three commands over their libraries."""
    # A single run depends more on the machine than on the command.
    rounds = 5 if smoke else ROUNDS
    # With bytecode, as installed; in an editable install, the first round writes it, and is not counted.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name, _, _ in COMMANDS}
    for _ in range(rounds + 1):
        for name, arguments, _ in COMMANDS:
            times[name].append(_processor_s(arguments, environment) * 1000)
    quickest = {name: min(counted[1:]) for name, counted in times.items()}
    for name, _, budget in COMMANDS:
        detail = f"processor time, quickest of {rounds}, median {statistics.median(times[name][1:]):.0f} ms"
        yield Figure(f"{name}, whole process", quickest[name], budget, "ms", detail)
    for name in ("htppower list", "htppower lint burst.yaml", "htppower explain burst core"):
        detail = f"above {LIBRARIES}: both the quickest of {rounds}, run in turn"
        yield Figure(
            f"{name}, beyond its libraries", quickest[name] - quickest[LIBRARIES], BEYOND_LIBRARIES_MS, "ms", detail
        )
    yield _many(environment, runs=1 if smoke else 3)
    yield _many_extension_files(environment, runs=1 if smoke else 3)


def _processor_s(arguments: tuple[str, ...], environment: dict[str, str]) -> float:
    """Return the processor time of a run of Python and its children, including system time, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    # In an empty folder, so that the installed package is used, as in this process, and not a checkout.
    with tempfile.TemporaryDirectory() as empty:
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment, cwd=empty)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _many(environment: dict[str, str], runs: int) -> Figure:
    """Return how long linting a folder of 1,000 profiles takes, as a whole process."""
    with tempfile.TemporaryDirectory() as folder:
        text = (shipped_folder() / "burst.yaml").read_text(encoding="utf-8")
        for number in range(MANY):
            own = text.replace("profile: burst", f"profile: own{number}", 1)
            (Path(folder) / f"own{number}.yaml").write_text(own, encoding="utf-8")
        took_s = _linted(folder, environment, runs)
    return Figure(
        f"htppower lint, {MANY} profiles, whole process", took_s, 2, "s", f"processor time, quickest of {runs}"
    )


def _many_extension_files(environment: dict[str, str], runs: int) -> Figure:
    """Return how long linting a folder of 1,000 extension files takes, as a whole process."""
    core = {"core_id": 0, "perf_profile": "burst", "rpc_control_latency": 100}
    file = {"devices": [{"soc_model": 69, "dsp_arch": "v79", "cores": [core]}], "memory": {"mem_type": "shared_buffer"}}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(MANY):
            (Path(folder) / f"htp{number}.json").write_text(json.dumps(file, indent=2), encoding="utf-8")
        took_s = _linted(folder, environment, runs)
    return Figure(
        f"htppower lint, {MANY} extension files, whole process", took_s, 3, "s", f"processor time, quickest of {runs}"
    )


def _linted(folder: str, environment: dict[str, str], runs: int) -> float:
    """Return the processor time of linting a folder, of the quickest run, in seconds."""
    return min(_processor_s((*_SCRIPT, "lint", folder), environment) for _ in range(runs))
