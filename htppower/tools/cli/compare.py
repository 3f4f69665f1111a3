"""``htppower compare``: two measurements side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import click

from htppower.errors import HtpPowerError
from htppower.profiles.did_you_mean import did_you_mean
from htppower.profiles.loading import load_profile
from htppower.rules.platforms import find_soc
from htppower.tools.cli import completion
from htppower.tools.cli.help import REFUSED, WHAT, Command, option
from htppower.tools.cli.options import STANDARD_INPUT, folders_option, output_options, standard_input_stream
from htppower.tools.cli.outputs import print_document, write_outputs
from htppower.tools.cli.progress import shown_progress, size_of
from htppower.tools.cli.trace import needs_extra, options_within
from htppower.tools.review.compare.comparable import FACTS
from htppower.tools.review.compare.comparison import compare
from htppower.tools.review.compare.forms import FORMS, render
from htppower.tools.review.compare.reading import pair, read_side

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.advice.measurement import Measurement
    from htppower.tools.review.compare.comparison import Comparison

_SIDES = 2


def _twice(what: str, values: Sequence[str]) -> tuple[str, str] | None:
    """Return the value of each side; None if none is given."""
    if not values:
        return None
    if len(values) > _SIDES:
        raise click.UsageError(f"{what} is given {len(values)} times: give it once for both, or once for each side")
    return values[0], values[-1]


def _facts(
    _ctx: click.Context, _parameter: click.Parameter, said: tuple[str, ...]
) -> tuple[dict[str, str], dict[str, str]]:
    """Return the facts of ``--about``, by side."""
    found: dict[str, dict[str, str]] = {"A": {}, "B": {}}
    for each in said:
        side, dot, rest = each.partition(".")
        name, equals, value = rest.partition("=")
        if side not in found or not dot or not equals or not value.strip():
            raise click.BadParameter(f"{each!r} is not A.NAME=VALUE or B.NAME=VALUE")
        if name not in FACTS:
            raise click.BadParameter(f"{name!r} is not a fact: {did_you_mean(name, FACTS)}")
        found[side][name] = value.strip()
    return found["A"], found["B"]


@click.command(name="compare", cls=Command, example="htppower compare before.csv after.csv --profile burst")
@click.argument("a", type=click.Path(), metavar="A")
@click.argument("b", type=click.Path(), metavar="B")
@output_options(FORMS)
@option(
    "--profile",
    "profiles",
    metavar="NAME",
    multiple=True,
    group=WHAT,
    shell_complete=completion.profiles,
    help="The profile that was in force, by name or path; if they differ, once for A and once for B.",
)
@option(
    "--soc",
    "socs",
    metavar="NAME",
    multiple=True,
    group=WHAT,
    shell_complete=completion.socs,
    help="The SoC, by name, part or model number; if they differ, once for A and once for B.",
)
@option(
    "--graph",
    "graphs",
    metavar="NAME",
    multiple=True,
    group=WHAT,
    help="The graph or session to compare, by its name or a part of it; if they differ, once for A and once for B.",
)
@option(
    "--about",
    metavar="SIDE.FACT=VALUE",
    multiple=True,
    group=WHAT,
    callback=_facts,
    help=f"A fact that a file does not have, such as B.spin=off; may be repeated. FACT is {', '.join(FACTS)}.",
)
@options_within
@option(
    "--fail-slower",
    "percent",
    metavar="PERCENT",
    type=click.FloatRange(0, 10_000),
    group=WHAT,
    help="Exit with 1 if B is surely slower than A by more than this.",
)
@folders_option("Also look for names in this folder; may be repeated.")
def command(
    a: str,
    b: str,
    form: str,
    outputs: tuple[tuple[str, str], ...],
    profiles: tuple[str, ...],
    socs: tuple[str, ...],
    graphs: tuple[str, ...],
    about: tuple[dict[str, str], dict[str, str]],
    name: str | None,
    unit: str | None,
    percent: float | None,
    folders: tuple[str, ...],
) -> None:
    """Compare two measurements, and find where they differ.

    It also says what makes the two hard to compare, and what to try on the slower side.

    A and B are files that htppower advise or htppower trace reads, recognised by their content: text or CSV of
    qnn-profile-viewer, CSV of ONNX Runtime's QNN provider, profiles of Genie, AI Hub and qairt.Profiler, optrace and
    QHAS, logs of llama.cpp, LiteRT's benchmark_model and ExecuTorch's runners, ETDumps, recordings of htppower,
    LoadGen's traces, profiles of ONNX Runtime, and tables. The path - is the standard input.

    The difference of the medians has an interval from a bootstrap. If the interval includes 0, no difference is shown.

    Exit code 0: the files were compared; 1: B is slower than --fail-slower allows, and the whole interval lies above
    it; 2: a file can't be read, or --fail-slower can't be decided, since the files are not comparable or hold too few
    runs.
    """
    if a == b == STANDARD_INPUT:
        raise click.UsageError("the standard input can be read only once")
    names = _twice("--graph", graphs)
    of_profiles, of_socs = _twice("--profile", profiles), _twice("--soc", socs)
    with needs_extra("tune"):
        one, other = pair(_read(a, name, unit), _read(b, name, unit), names or ())
    sides = [attrs.evolve(side, facts={**side.facts, **facts}) for side, facts in zip((one, other), about, strict=True)]
    if of_profiles is not None:
        sides = [
            attrs.evolve(side, profile=load_profile(name, folders=folders))
            for side, name in zip(sides, of_profiles, strict=True)
        ]
    if of_socs is not None:
        sides = [attrs.evolve(side, soc=find_soc(name)) for side, name in zip(sides, of_socs, strict=True)]
    comparison = compare(*sides)
    document = write_outputs(outputs, form, lambda said, width: render(comparison, said, width))
    print_document(document, form)
    if percent is not None and _is_slower(comparison, percent):
        click.get_current_context().exit(REFUSED)


def _read(path: str, name: str | None, unit: str | None) -> list[Measurement]:
    with shown_progress() as progress:
        progress.begin(f"reading {path}", size_of(path))
        given = standard_input_stream() if path == STANDARD_INPUT else None
        return read_side(path, given, progress.add, name=name, unit=unit)


def _is_slower(comparison: Comparison, percent: float) -> bool:
    """Return whether all of the interval is above a limit.

    Raises:
        HtpPowerError: that can't be said.
    """
    found = comparison.differences
    blocking = [each.rule.id for each in comparison.findings if each.weight.name == "BLOCKS"]
    if blocking:
        raise HtpPowerError(f"--fail-slower can't be decided: the files are not comparable ({', '.join(blocking)})")
    if found.ratio_low is None:
        raise HtpPowerError("--fail-slower can't be decided: a file has too few runs, or averages without their spread")
    return 100 * (found.ratio_low - 1) > percent
