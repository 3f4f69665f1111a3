"""``htppower doctor``: whether votes can be sent here, and what to do if not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs
import click

from htppower.tools.cli.diagnosis import diagnose
from htppower.tools.cli.help import Command
from htppower.tools.cli.measure import measure_options, measured, refuse_without_measure
from htppower.tools.cli.options import folders_option, format_option, library_option, soc_option
from htppower.tools.cli.terminal import echo, kept_off_stdout
from htppower.tools.report.layout import LABEL, aligned, labelled, terminal_width
from htppower.votes.native_codes import SUCCESS, code_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from htppower.backends.base import Description, Device
    from htppower.errors import Step
    from htppower.tools.cli.diagnosis import Diagnosis, ProfileHere

FORMAT_VERSION = 1
NOT_USABLE = 1
# A client that can override all votes from here. The votes of other clients can't be seen.
_NULL_CLIENT = "the NULL client: a vote on it may override every other setting of the process; none is sent here (ID-1)"
_VERSIONS = {"core_api": "core API", "htp_api": "HTP API"}


@click.command(name="doctor", cls=Command, example="htppower doctor --library /vendor/lib64/libQnnHtp.so")
@format_option(("text", "markdown", "json"))
@measure_options
@library_option()
@soc_option("Make the device for this SoC; leave it out on a device.")
@folders_option("Also check the profiles in this folder; may be repeated.")
def command(form: str, library: str | None, soc: str | None, folders: tuple[str, ...], **measuring: Any) -> None:
    """Check whether votes can be sent here, and what to do if not.

    It shows which library is used, its platform, which votes it accepts, and which profiles degrade.

    Harmless votes of every kind are sent, and reset. The exit code is 0 if votes are accepted, 1 if
    they are not.

    With --measure, it raises and lowers a profile many times instead, and prints how long each call takes, when the
    clock follows if it can be read, and what a missed vote costs an inference. The votes are lowered at the end.
    """
    if measuring["measure"]:
        echo(measured(form, {**measuring, "library": library, "soc": soc}))
        return
    refuse_without_measure(form)
    with kept_off_stdout():
        diagnosis = diagnose(library, soc, folders)
    if form == "json":
        echo(json.dumps(_document(diagnosis), indent=2))
    else:
        echo("\n".join(_text(diagnosis, terminal_width())))
    click.get_current_context().exit(0 if diagnosis.usable else NOT_USABLE)


def _text(diagnosis: Diagnosis, width: int) -> Iterator[str]:
    for label, text in _rows(diagnosis):
        yield from labelled(label, text, width, indent="  ")
    for place, line in enumerate(diagnosis.skel_paths.lines):
        # The line is kept whole, so that it can be pasted into a shell.
        yield f"{'' if place else 'type':<{LABEL}}  {line}"


def _rows(diagnosis: Diagnosis) -> Iterator[tuple[str, str]]:
    """Yield the results, each with its label. The label of a group is on its first line."""
    yield "usable", "yes" if diagnosis.usable else "no"
    if diagnosis.problem is not None:
        yield "problem", diagnosis.what_is_wrong
    if diagnosis.description is not None:
        yield from _rows_of_platform(diagnosis.description)
    yield from _group("tried", map(str, _tried(diagnosis)))
    yield from _group("variables", (f"{name}={value}" for name, value in diagnosis.environment.items()))
    yield from _group("skel", diagnosis.skel_paths.faults)
    answers = ((option.name, _answer(code)) for option, code in diagnosis.answers.items())
    yield from _group("votes", aligned([*answers]) if diagnosis.answers else ())
    if diagnosis.answers:
        yield "id 0", _NULL_CLIENT
    names = aligned([(profile.name, _profile(profile)) for profile in diagnosis.profiles] or [("",)])
    for place, (line, profile) in enumerate(zip(names, diagnosis.profiles, strict=False)):
        yield "" if place else "profiles", line
        for problem in profile.refused:
            yield "", f"  {problem}"
    yield from _group("to do", diagnosis.steps or (() if diagnosis.skel_paths.lines else ("nothing",)))
    yield from _group("why", (f"htppower explain {code}" for code in _codes(diagnosis)))


def _group(label: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    return (("" if place else label, text) for place, text in enumerate(texts))


def _answer(code: int) -> str:
    # The end of the vendor's name is enough here; ``htppower explain CODE`` shows the whole name.
    return "taken" if code == SUCCESS else f"{code} {code_name(code).rpartition('_ERROR_')[2]}"


def _codes(diagnosis: Diagnosis) -> dict[int, None]:
    """Return the codes of refused votes, each once."""
    code = getattr(diagnosis.problem, "code", None)
    said = (*diagnosis.answers.values(), *(() if code is None else (code,)))
    return dict.fromkeys(code for code in said if code != SUCCESS)


def _rows_of_platform(description: Description) -> Iterator[tuple[str, str]]:
    yield "library", description.library
    yield "versions", ", ".join(f"{_VERSIONS.get(name, name)} {version}" for name, version in description.versions)
    yield "platform", str(description.platform)
    for device in description.devices:
        cores = ", ".join(map(str, device.core_ids))
        signed = "yes" if device.signed_pd else "no"
        text = (
            f"SoC model {device.soc_model}, Hexagon V{device.arch}, core ids {cores}, VTCM {device.vtcm_mb} MB, "
            f"signed process domains: {signed}"
        )
        yield f"device {device.device_id}", text
    yield "hardware", "yes" if description.hardware else "no: votes are accepted, but no clock changes"


def _tried(diagnosis: Diagnosis) -> tuple[Step, ...]:
    if diagnosis.description is not None:
        return diagnosis.description.tried
    return getattr(diagnosis.problem, "tried", ())


def _profile(profile: ProfileHere) -> str:
    if profile.refused:
        count = len(profile.refused)
        return f"refused, {count} problem{'' if count == 1 else 's'}:"
    lost = ", ".join(f"{lost.option.name} ({lost.rule})" for lost in profile.degradations)
    return f"without {lost}" if lost else "complete"


def _document(diagnosis: Diagnosis) -> dict[str, Any]:
    description, problem = diagnosis.description, diagnosis.problem
    reason, code = (getattr(problem, name, None) for name in ("reason", "code"))
    return {
        "format_version": FORMAT_VERSION,
        "usable": diagnosis.usable,
        "problem": None
        if problem is None
        else {"message": diagnosis.what_is_wrong, "reason": reason and reason.name, "code": code},
        "library": None if description is None else description.path,
        "versions": {} if description is None else dict(description.versions),
        "platform": None if description is None else _platform(description),
        "devices": [] if description is None else [_device(device) for device in description.devices],
        "hardware": description is not None and description.hardware,
        "tried": [attrs.asdict(step) for step in _tried(diagnosis)],
        "environment": diagnosis.environment,
        "skel_paths": list(diagnosis.skel_paths.faults),
        "votes": [
            {"option": option.name, "code": code, "name": code_name(code)} for option, code in diagnosis.answers.items()
        ],
        "profiles": [
            {
                "name": profile.name,
                "refused": list(profile.refused),
                "degradations": [
                    {"option": lost.option.name, "rule": lost.rule, "message": lost.message}
                    for lost in profile.degradations
                ],
            }
            for profile in diagnosis.profiles
        ],
        "next": [*diagnosis.steps, *diagnosis.skel_paths.lines],
    }


def _platform(description: Description) -> dict[str, Any] | None:
    platform = description.platform
    if platform is None:
        return None
    return {
        "soc_model": None if platform.soc is None else platform.soc.model,
        "soc": None if platform.soc is None else platform.soc.names[0],
        "arch": None if platform.arch is None else f"V{platform.arch}",
        "os": platform.os,
    }


def _device(device: Device) -> dict[str, Any]:
    return {**attrs.asdict(device), "arch": f"V{device.arch}" if device.arch else None}
