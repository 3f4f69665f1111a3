"""Prints every budget with the measured value: ``python tests/benchmarks/run.py``, or with ``--smoke`` a short run.

Ratios compare two things that are measured in turn in the same run, so that they hold on a noisy machine. The exit code
is always 0: a missed budget is reported, and people judge it.
"""

from __future__ import annotations

import argparse

import _support  # noqa: F401 - first: others import what it makes importable
import background
import fleet
import hanging_call
import hot_path
import large_files
import large_inputs
import lateness
import learnt_sustain
import many_threads
import modes
import native_call
import recording
import recovery
import scale
import service_clients
import slow_backend
import startup
import tuner
import waiting_line

PARTS = (
    *(
        hot_path,
        native_call,
        waiting_line,
        hanging_call,
        recovery,
        many_threads,
        modes,
        slow_backend,
        background,
        recording,
    ),
    *(learnt_sustain, lateness, scale, service_clients, startup, tuner, fleet, large_files, large_inputs),
)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Measure htppower against its budgets.")
    parser.add_argument("--smoke", action="store_true", help="a short run that shows that everything can be measured")
    smoke = parser.parse_args().smoke
    print(f"{'what':<58} {'measured':>10} {'':<5} {'budget':>12}")
    for part in PARTS:
        for figure in part.measure(smoke=smoke):
            print(figure.line(), flush=True)


if __name__ == "__main__":
    main()
