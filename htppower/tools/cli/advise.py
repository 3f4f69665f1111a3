"""``htppower advise``: advice on power from the output of a profiler."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import click

from htppower.profiles.loading import load_profile
from htppower.rules.platforms import find_soc
from htppower.tools.cli import completion
from htppower.tools.cli.help import WHAT, Command, option
from htppower.tools.cli.options import STANDARD_INPUT, folders_option, output_options, soc_option, standard_input_stream
from htppower.tools.cli.outputs import print_document, write_outputs
from htppower.tools.cli.progress import shown_progress, size_of
from htppower.tools.report.words import counted
from htppower.tools.review.advice.forms import FORMS, render
from htppower.tools.review.advice.readers.recognise import read_measurements
from htppower.tools.review.advice.run import advise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.profiles.profile import Profile
    from htppower.tools.cli.progress import Progress
    from htppower.tools.review.advice.measurement import Measurement


@click.command(name="advise", cls=Command, example="htppower advise profile.csv --profile burst --soc SM8750")
@click.argument("files", nargs=-1, required=True, type=click.Path(), metavar="FILE...")
@output_options(FORMS)
@option(
    "--profile",
    "names",
    metavar="NAME",
    multiple=True,
    group=WHAT,
    shell_complete=completion.profiles,
    help="The profile that was in force, by name or path. If the files were made under several, name one for each "
    "FILE, in their order.",
)
@folders_option("Also look for names in this folder; may be repeated.")
@soc_option("The SoC of the measurements, by name, part or model number.")
def command(
    files: tuple[str, ...],
    form: str,
    outputs: tuple[tuple[str, str], ...],
    names: tuple[str, ...],
    folders: tuple[str, ...],
    soc: str | None,
) -> None:
    """Give advice on power from what profilers have measured.

    FILE is recognised by its content: text or CSV of qnn-profile-viewer, CSV of ONNX Runtime's QNN provider, a profile
    of Genie, a profile job of AI Hub, a report of qairt.Profiler, a trace of optrace or its summary (QHAS), a log of
    llama.cpp, of LiteRT's benchmark_model or of ExecuTorch's runners, or an ETDump if executorch is installed; each may
    be packed with gzip. The path - is the standard input.

    The advice with the largest gain is first. Each piece of advice names its rule, which htppower explain RULE
    describes, its evidence, and what to do. If no rule finds anything, that is printed.

    Exit code 0: the files were read; 2: a file can't be read.
    """
    profiles = _profiles(names, folders, len(files))
    if files.count(STANDARD_INPUT) > 1:
        raise click.UsageError("the standard input can be read only once")
    with shown_progress() as progress:
        report = advise(_measurements(files, profiles, soc, progress))
    document = write_outputs(outputs, form, lambda name, width: render(report, name, width))
    print_document(document, form)


def _measurements(
    files: Sequence[str], profiles: Sequence[Profile | None], soc: str | None, progress: Progress
) -> list[Measurement]:
    measurements: list[Measurement] = []
    for path, profile in zip(files, profiles, strict=True):
        progress.begin(f"reading {path}", size_of(path))
        given = standard_input_stream() if path == STANDARD_INPUT else None
        found = read_measurements(path, given, progress.add)
        measurements += (attrs.evolve(each, profile=profile) for each in found)
    progress.begin("looking for advice")
    if soc is not None:
        model = find_soc(soc)
        measurements = [attrs.evolve(each, soc=model) for each in measurements]
    return measurements


def _profiles(names: tuple[str, ...], folders: tuple[str, ...], count: int) -> Sequence[Profile | None]:
    if not names:
        return (None,) * count
    if len(names) not in (1, count):
        files = counted(count, "file")
        raise click.UsageError(f"--profile is named {len(names)} times for {files}; name one for all, or one each")

    loaded = {name: load_profile(name, folders=folders) for name in dict.fromkeys(names)}
    return [loaded[name] for name in (names * count if len(names) == 1 else names)]
