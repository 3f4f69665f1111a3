"""The diagnosis as a report: the most likely cause with the line to type, then everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.rules.platforms import Platform, find_soc
from htppower.tools.report.blocks import Lines, Pairs
from htppower.tools.report.layout import LABEL, aligned
from htppower.votes.native_codes import SUCCESS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from htppower.tools.report.blocks import Block

# A client that can override all votes from here. The votes of other clients can't be seen.
_NULL_CLIENT = "the NULL client: a vote on it may override every other setting of the process; none is sent here (ID-1)"
_VERSIONS = {"core_api": "core API", "htp_api": "HTP API"}


def blocks(document: dict[str, Any]) -> tuple[Block, ...]:
    """Return the report of a document from ``as_document``."""
    cause = document["cause"]
    first = [("usable", "yes" if document["usable"] else "no")]
    if cause is not None:
        first.append(("cause", cause["says"]))
    found: list[Block] = [Pairs(first)]
    if cause is not None and cause["lines"]:
        found.append(_to_type(cause["lines"]))
    for other in document["other_causes"]:
        found.append(Pairs([("or", other["says"])]))
        found += [_to_type(other["lines"])] if other["lines"] else []
    found.append(Pairs(_facts(document)))
    lines = [line for line in document["next"] if _is_skel_line(line, document)]
    if lines:
        found.append(_to_type(lines))
    return tuple(found)


def _is_skel_line(line: str, document: dict[str, Any]) -> bool:
    """Return whether a line mends the variables of the skel, and is not shown with the cause."""
    of_cause = document["cause"]["lines"] if document["cause"] is not None else ()
    return bool(document["skel_paths"]) and "LIBRARY_PATH" in line and line not in of_cause


def _to_type(lines: list[str]) -> Lines:
    """Return lines that are kept whole, so that they can be pasted into a shell."""
    return Lines(lambda _width: [f"{'' if place else 'type':<{LABEL}}  {line}" for place, line in enumerate(lines)])


def _facts(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if document["problem"] is not None:
        yield "problem", document["problem"]["message"]
    if document["cause"] is None and not document["usable"]:
        yield from _to_do(document)
    yield from _of_library(document)
    yield from _joined("tried", (": ".join(filter(None, step.values())) for step in document["tried"]))
    yield from _of_machine(document["machine"])
    yield from _joined("variables", (f"{name}={value}" for name, value in document["environment"].items()))
    yield from _joined("skel", document["skel_paths"])
    if not document["usable"]:
        yield from _joined("log", _log(document["log"]))
    yield from _joined("votes", _aligned([(each["option"], _answer(each)) for each in document["votes"]]))
    if document["votes"]:
        yield "id 0", _NULL_CLIENT
    yield from _joined("profiles", _profiles(document["profiles"]))
    yield from _joined("notes", document["notes"])
    yield from _joined("not found", document["failures"])
    if document["cause"] is not None or document["usable"]:
        yield from _to_do(document)
    yield from _joined("why", (f"htppower explain {code}" for code in _codes(document)))


def _to_do(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    shown = [line for line in document["next"] if not _is_line(line, document)]
    yield from _joined("to do", shown or (("nothing",) if document["usable"] and not document["next"] else ()))


def _is_line(line: str, document: dict[str, Any]) -> bool:
    of_cause = document["cause"]["lines"] if document["cause"] is not None else ()
    return line in of_cause or _is_skel_line(line, document)


def _joined(label: str, texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield texts below each other, with the label on the first line; nothing if all are empty."""
    whole = "\n".join(texts)
    if whole:
        yield label, whole


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    return aligned(rows) if rows else []


def _of_library(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    path, versions = document["library"], document["versions"]
    if path is None:
        return
    origin = document["tried"][-1]["origin"] if document["tried"] else ""
    build = f", build {versions['build']}" if "build" in versions else ""
    yield "library", f"{path}{build}{origin and f', from {origin}'}"
    if versions:
        yield "versions", ", ".join(f"{_VERSIONS.get(name, name)} {version}" for name, version in versions.items())
    yield "platform", _platform(document["platform"])
    for device in document["devices"]:
        cores = ", ".join(map(str, device["core_ids"]))
        signed = "yes" if device["signed_pd"] else "no"
        text = (
            f"SoC model {device['soc_model']}, Hexagon {device['arch'] or 'unknown'}, core ids {cores}, "
            f"VTCM {device['vtcm_mb']} MB, signed process domains: {signed}"
        )
        yield f"device {device['device_id']}", text
    yield "hardware", "yes" if document["hardware"] else "no: votes are accepted, but no clock changes"


def _platform(platform: dict[str, Any] | None) -> str:
    if platform is None:
        return "unknown"
    soc = None if platform["soc_model"] is None else find_soc(platform["soc_model"])
    return str(Platform(None if platform["arch"] is None else int(platform["arch"][1:]), soc, platform["os"]))


def _of_machine(machine: dict[str, Any]) -> Iterator[tuple[str, str]]:
    system = ", ".join(filter(None, (machine["distribution"] or machine["system"], f"kernel {machine['kernel']}")))
    container = machine["container"]
    yield "machine", f"{system}, in a container ({container})" if container else system
    if machine["soc_id"] is not None:
        yield "chip", f"number {machine['soc_id']}, {machine['soc'] or 'which is not in the tables of htppower'}"
    elif machine["nodes"] or machine["processors"]:
        yield "chip", f"unknown: {machine['soc_trouble']}"
    nodes = [(each["path"], f"{each['group']} {each['mode']}", _may_open(each)) for each in machine["nodes"]]
    yield from _joined("nodes", _aligned(nodes))
    fastrpc = machine["fastrpc"]
    package = " ".join(filter(None, (fastrpc["package"], fastrpc["version"])))
    yield from _joined("FastRPC", filter(None, (*fastrpc["libraries"], package, *fastrpc["shells"])))
    yield from _joined("DSPs", (f"{each['name'] or each['path']}: {each['state']}" for each in machine["processors"]))


def _may_open(node: dict[str, Any]) -> str:
    return "may be opened" if node["may_open"] else "may not be opened"


def _log(lines: list[dict[str, Any]]) -> Iterator[str]:
    """Yield the errors and the known warnings of the log, and each meaning below the first line that has it."""
    told: set[str] = set()
    for line in lines:
        if line["means"] or line["level"] == "ERROR":
            yield line["text"]
            yield from (f"= {text}" for text in line["means"] if text not in told)
            told.update(line["means"])


def _answer(vote: dict[str, Any]) -> str:
    # The end of the vendor's name is enough here; ``htppower explain CODE`` shows the whole name.
    return "taken" if vote["code"] == SUCCESS else f"{vote['code']} {vote['name'].rpartition('_ERROR_')[2]}"


def _profiles(profiles: list[dict[str, Any]]) -> Iterator[str]:
    names = _aligned([(each["name"], _profile(each)) for each in profiles])
    for line, profile in zip(names, profiles, strict=False):
        yield line
        yield from (f"  {problem}" for problem in profile["refused"])


def _profile(profile: dict[str, Any]) -> str:
    if profile["refused"]:
        count = len(profile["refused"])
        return f"refused, {count} problem{'' if count == 1 else 's'}:"
    lost = ", ".join(f"{each['option']} ({each['rule']})" for each in profile["degradations"])
    return f"without {lost}" if lost else "complete"


def _codes(document: dict[str, Any]) -> dict[int, None]:
    """Return the codes of refused votes, each once."""
    code = None if document["problem"] is None else document["problem"]["code"]
    said = (*(each["code"] for each in document["votes"]), *(() if code is None else (code,)))
    return dict.fromkeys(each for each in said if each != SUCCESS)
