"""The profile of an AI Hub job, as ``ProfileJob.download_profile`` returns it. Its times are in us."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.review.advice.measurement import Event, Measurement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from htppower.tools.review.advice.readers.source import Node

_FORM = "profile job of AI Hub"
_SUMMARY = "execution_summary"
_BURST = "AI Hub runs its jobs under burst unless their options say something else."
_HOST = "The times are the host's: they are not device time."
_NPU = "NPU"
# A share too small to act on.
_ELSEWHERE_LEAST = 0.02


def summary_of(tree: Node) -> Node | None:
    """Return the job's profile: the file, or its value for ``profile``; None if it is another kind of file."""
    if not isinstance(tree.value, dict):
        return None
    if _SUMMARY in tree.value:
        return tree
    inner = tree.value.get("profile")
    return tree.get("profile") if isinstance(inner, dict) and _SUMMARY in inner else None


def read(job: Node) -> list[Measurement]:
    """Return what was measured.

    Raises:
        UnreadableFile: a value is wrong, or no time is given.
    """
    summary = job.get(_SUMMARY)
    assert summary is not None  # noqa: S101 - summary_of has checked it
    times = [each.number() for each in summary.items("all_inference_times")]
    fastest = summary.get("estimated_inference_time")
    notes = [_HOST, _BURST]
    if not times:
        if fastest is None:
            raise summary.wrong("has no inference times", "download the profile of a job that has succeeded")
        times = [fastest.number()]
        notes.append("estimated_inference_time is the fastest run, not the median, and the file has no other.")
    elif fastest is not None:
        ordered = sorted(times)
        notes.append(
            f"estimated_inference_time is the fastest run: {fastest.number():.0f} us; the median is "
            f"{ordered[len(ordered) // 2]:.0f} us."
        )
    layers = list(job.items("execution_detail")) if isinstance(job.value.get("execution_detail"), list) else []
    notes += _elsewhere(layers)
    columns: dict[Event, Sequence[float]] = {Event.INFERENCE: times}
    on_npu = [layer for layer in layers if layer.text("compute_unit").upper() == _NPU]
    cycles, busy_us = (_sum(on_npu, key) for key in ("execution_cycles", "execution_time"))
    if cycles and busy_us:
        columns |= {Event.CYCLES: (cycles,), Event.COMPUTE: (busy_us,)}
        notes.append(
            "Cycles and times of the layers are added up. Layers overlap, so the sums are not durations or clocks."
        )
    return [Measurement(job.file, _FORM, columns, {Event.INFERENCE: "us"}, notes=tuple(notes))]


def _elsewhere(layers: list[Node]) -> list[str]:
    """Return a note on layers that run on the CPU or GPU, where votes have no effect."""
    units = [layer.text("compute_unit").upper() for layer in layers]
    others = sum(unit not in ("", _NPU) for unit in units)
    if not others:
        return []
    busy_us = _sum(layers, "execution_time")
    there_us = _sum(
        [layer for layer, unit in zip(layers, units, strict=True) if unit not in ("", _NPU)], "execution_time"
    )
    share = there_us / busy_us if busy_us else others / len(units)
    if share < _ELSEWHERE_LEAST:
        return []
    return [f"{others} of {len(units)} layers, {share:.0%} of the time, run on the CPU or GPU. Votes can't help there."]


def _sum(layers: list[Node], key: str) -> float:
    found = (layer.get(key) for layer in layers)
    return sum(each.number() for each in found if each is not None and each.value is not None)
