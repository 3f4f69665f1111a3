"""MLPerf LoadGen on the host of ONNX Runtime, with and without votes: ``python tests/benchmarks/loadgen.py``.

The model is tiny and runs on the CPU, and the votes go to the simulated HTP: the table shows what the controller adds,
not what the clocks gain. Latencies are those of LoadGen's own log. It needs the package mlcommons-loadgen.
"""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from loadgen_host import Row, measure
from loadgen_scenarios import SCENARIOS

from htppower import profile_names
from htppower.backends import QnnHtp, SimulatedHtp
from htppower.errors import BackendUnavailable
from htppower.tools.cli.terminal import kept_off_stdout

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from htppower.backends import Backend

_SOC_MODEL = 57
# Each kind of profile, and each scenario, once: lowered at once, kept up, and without votes.
_SMOKE = (("SingleStream", "high_performance"), ("MultiStream", "burst"), ("Server", "system_settings"))
_SMOKE_S = 0.1


def main(arguments: Sequence[str] | None = None) -> list[Row]:
    """Measure, print the table, and return its rows."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.backend == "qnn" and options.call_us:
        parser.error("--call-us delays the calls of the simulated HTP: leave it out with --backend qnn")
    if options.seconds <= 0 or options.qps <= 0 or options.call_us < 0:
        parser.error("--seconds and --qps are above 0, --call-us is 0 or more")
    cells = _SMOKE if options.smoke else [(each, name) for each in options.scenarios for name in options.profiles]
    try:
        backend = _backend(options.backend, options.call_us)
    except BackendUnavailable as unavailable:
        parser.error(str(unavailable))
    rows = []
    for line in _head(options):
        print(line, flush=True)
    for scenario, profile in cells:
        duration_s = _SMOKE_S if options.smoke else options.seconds
        rows.append(measure(scenario, profile, backend, duration_s=duration_s, qps=options.qps))
        print(_line(rows[-1]), flush=True)
    with kept_off_stdout():
        backend.close()
    return rows


def _parser() -> argparse.ArgumentParser:
    names = profile_names()
    parser = argparse.ArgumentParser(description="Measure the host of ONNX Runtime with MLPerf LoadGen.")
    parser.add_argument("--seconds", type=float, default=2.0, help="of each test; there are two in each line")
    parser.add_argument("--profiles", nargs="+", choices=names, default=names, metavar="NAME")
    parser.add_argument("--scenarios", nargs="+", choices=SCENARIOS, default=SCENARIOS, metavar="NAME")
    parser.add_argument("--qps", type=float, default=200.0, help="Server: queries a second, as a Poisson process")
    parser.add_argument("--call-us", type=int, default=0, help="what a setPowerConfig takes on the simulated HTP")
    parser.add_argument("--backend", choices=("simulated", "qnn"), default="simulated", help="what takes the votes")
    parser.add_argument("--smoke", action="store_true", help="a short run that shows that everything can be measured")
    return parser


def _backend(name: str, call_us: int) -> Backend:
    if name == "qnn":
        with kept_off_stdout():
            return QnnHtp(os.environ.get("HTPPOWER_QNN_LIBRARY"), _SOC_MODEL)
    simulated = SimulatedHtp(arch=75)
    simulated.delay_calls(call_us, "setPowerConfig")
    return simulated


def _head(options: argparse.Namespace) -> Iterator[str]:
    taken = f", {options.call_us} us a call" if options.backend == "simulated" else ""
    yield f"latency of a query in us, by LoadGen's log; votes to {options.backend}{taken}; Server {options.qps:g} qps"
    yield f"{'':<40}{'without votes':>24}  {'with votes':>24}"
    quantiles = f"{'p50':>8}{'p90':>8}{'p99':>8}"
    yield (
        f"{'scenario':<13}{'profile':<27}{quantiles}  {quantiles}  {'p50 adds':>9}"
        f"{'calls':>8}{'saved':>8}{'raised':>8}{'inferences':>12}"
    )


def _line(row: Row) -> str:
    plain, voting = (f"{load.p50_us:>8.0f}{load.p90_us:>8.0f}{load.p99_us:>8.0f}" for load in (row.plain, row.voting))
    return (
        f"{row.scenario:<13}{row.profile:<27}{plain}  {voting}  {row.voting.p50_us - row.plain.p50_us:>+9.1f}"
        f"{row.calls:>8}{row.saved:>8}{row.raised:>8.1%}{row.voting.completed:>12}"
    )


if __name__ == "__main__":
    main()
