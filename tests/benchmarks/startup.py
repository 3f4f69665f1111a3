"""The start-up of the command as a whole process, beside that of Python and of the libraries alone."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from figures import Figure

from htppower.profiles.discovery import shipped_folder

if TYPE_CHECKING:
    from collections.abc import Iterator

MANY = 1000
LIBRARIES = "importing click, yaml and attrs alone"
# What a command may take beyond its libraries.
BEYOND_LIBRARIES_MS = 25
COMMANDS = (
    ("htppower profile burst --dry-run", ("-m", "htppower", "profile", "burst", "--dry-run"), 200),
    ("htppower list", ("-m", "htppower", "list"), None),
    ("htppower lint burst.yaml", ("-m", "htppower", "lint", str(shipped_folder() / "burst.yaml")), None),
    ("htppower lint, the shipped folder", ("-m", "htppower", "lint", str(shipped_folder())), 120),
    ("htppower diff burst burst", ("-m", "htppower", "diff", "burst", "burst"), 120),
    ("htppower explain burst core", ("-m", "htppower", "explain", "burst", "core"), None),
    ("htppower test, the shipped folder", ("-m", "htppower", "test", str(shipped_folder())), None),
    ("htppower show burst", ("-m", "htppower", "show", "burst"), None),
    ("htppower settings burst", ("-m", "htppower", "settings", "burst", "--for", "onnxruntime"), None),
    (LIBRARIES, ("-c", "import click, yaml, attrs"), None),
    ("Python alone", ("-c", "pass"), None),
)


def measure(*, smoke: bool) -> Iterator[Figure]:
    """Yield the median of each command, run in turn, and by how much three of them exceed that of their libraries."""
    runs = 1 if smoke else 15
    # As installed: with bytecode, which the first, uncounted run of an editable install writes.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    times: dict[str, list[float]] = {name: [] for name, _, _ in COMMANDS}
    for _ in range(runs + 1):
        for name, arguments, _ in COMMANDS:
            start = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=environment)
            times[name].append(time.perf_counter() - start)
    for name, _, budget in COMMANDS:
        counted = times[name][1:]
        detail = f"median of {runs}, smallest {min(counted) * 1000:.0f} ms"
        yield Figure(f"{name}, whole process", statistics.median(counted) * 1000, budget, "ms", detail)
    libraries = statistics.median(times[LIBRARIES][1:])
    for name in ("htppower list", "htppower lint burst.yaml", "htppower explain burst core"):
        beyond_ms = (statistics.median(times[name][1:]) - libraries) * 1000
        detail = f"above {LIBRARIES}: difference of medians of {runs}, run in turn"
        yield Figure(f"{name}, beyond its libraries", beyond_ms, BEYOND_LIBRARIES_MS, "ms", detail)
    yield _many(environment, runs=1 if smoke else 3)
    yield _many_extension_files(environment, runs=1 if smoke else 3)


def _many(environment: dict[str, str], runs: int) -> Figure:
    """Return how long a folder of profiles of 1,000 files takes, whole process."""
    with tempfile.TemporaryDirectory() as folder:
        text = (shipped_folder() / "burst.yaml").read_text(encoding="utf-8")
        for number in range(MANY):
            own = text.replace("profile: burst", f"profile: own{number}", 1)
            (Path(folder) / f"own{number}.yaml").write_text(own, encoding="utf-8")
        took_s = _linted(folder, environment, runs)
    return Figure(f"htppower lint, {MANY} profiles, whole process", took_s, 2, "s", f"of {runs}")


def _many_extension_files(environment: dict[str, str], runs: int) -> Figure:
    """Return how long a folder of 1,000 extension files takes, whole process."""
    core = {"core_id": 0, "perf_profile": "burst", "rpc_control_latency": 100}
    file = {"devices": [{"soc_model": 69, "dsp_arch": "v79", "cores": [core]}], "memory": {"mem_type": "shared_buffer"}}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(MANY):
            (Path(folder) / f"htp{number}.json").write_text(json.dumps(file, indent=2), encoding="utf-8")
        took_s = _linted(folder, environment, runs)
    return Figure(f"htppower lint, {MANY} extension files, whole process", took_s, 3, "s", f"of {runs}")


def _linted(folder: str, environment: dict[str, str], runs: int) -> float:
    """Return the median time of linting a folder, in seconds."""
    times = []
    for _ in range(runs):
        start = time.perf_counter()
        command = [sys.executable, "-m", "htppower", "lint", folder]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
        times.append(time.perf_counter() - start)
    return statistics.median(times)
