"""The diagnosis as one document of JSON; the report is made from the same document."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

import attrs

from htppower._version import __version__
from htppower.rules.soc_names import by_kernel_number
from htppower.votes.native_codes import code_name

if TYPE_CHECKING:
    from htppower.backends.base import Description, Device
    from htppower.tools.doctor.causes import Found
    from htppower.tools.doctor.diagnosis import Diagnosis
    from htppower.tools.doctor.machine import Machine

FORMAT_VERSION = 1


def as_document(diagnosis: Diagnosis) -> dict[str, Any]:
    """Return the document."""
    description, problem = diagnosis.description, diagnosis.problem
    reason, code = (getattr(problem, name, None) for name in ("reason", "code"))
    causes = [_cause(found) for found in diagnosis.causes]
    tried = getattr(problem, "tried", ()) if description is None else description.tried
    first = causes[0]["lines"] if causes else []
    return {
        "format_version": FORMAT_VERSION,
        "usable": diagnosis.usable,
        "cause": causes[0] if causes else None,
        "other_causes": causes[1:],
        "problem": None
        if problem is None
        else {"message": diagnosis.what_is_wrong, "reason": reason and reason.name, "code": code},
        "library": None if description is None else description.path,
        "versions": {} if description is None else dict(description.versions),
        "platform": None if description is None else _platform(description),
        "devices": [] if description is None else [_device(device) for device in description.devices],
        "hardware": description is not None and description.hardware,
        "tried": [attrs.asdict(step) for step in tried],
        "environment": diagnosis.environment,
        "skel_paths": list(diagnosis.skel_paths.faults),
        "machine": _machine(diagnosis.machine),
        "log": [{"level": line.level, "text": line.text, "means": list(line.means)} for line in diagnosis.log.lines],
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
        "notes": list(diagnosis.notes),
        "failures": list(diagnosis.failures),
        "next": list(dict.fromkeys((*first, *diagnosis.steps, *diagnosis.skel_paths.lines))),
    }


def _cause(found: Found) -> dict[str, Any]:
    return {"id": found.id, "says": found.says, "lines": list(found.lines)}


def _machine(machine: Machine) -> dict[str, Any]:
    soc = None if machine.soc_number is None else by_kernel_number(machine.soc_number)
    return {
        "htppower": __version__,
        "python": platform.python_version(),
        "system": machine.system,
        "kernel": machine.kernel,
        "distribution": machine.distribution or None,
        "container": machine.container or None,
        "soc_id": machine.soc_number,
        "soc": None if soc is None else "/".join(soc.names),
        "soc_trouble": machine.soc_trouble or None,
        "nodes": [
            {"path": node.path, "group": node.group, "mode": node.mode, "may_open": node.may_open}
            for node in machine.nodes
        ],
        "fastrpc": {
            "libraries": list(machine.fastrpc.libraries),
            "package": machine.fastrpc.package or None,
            "version": machine.fastrpc.version or None,
            "shells": list(machine.shells),
        },
        "processors": [attrs.asdict(processor) for processor in machine.processors],
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
