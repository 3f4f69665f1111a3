"""The best sustain time for a fleet, as text, as JSON and as a profile."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import attrs

from htppower.profiles.fields import spell
from htppower.profiles.sustain import VENDOR_SUSTAIN_US, Adaptive, share_text
from htppower.tools.report.as_text import as_text
from htppower.tools.report.blocks import Heading, Paragraph, Table
from htppower.tools.report.layout import WIDTH, wrapped
from htppower.tools.report.words import counted, duration
from htppower.tools.tuning.choices import sustain_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.profiles.sustain import Sustain
    from htppower.tools.report.blocks import Block
    from htppower.tools.tuning.fleet.fleet import Fleet
    from htppower.tools.tuning.fleet.records import Cost, Question
    from htppower.tools.tuning.fleet.settle import Aim, Device, Settled

# How many devices, and how many unreadable files, the text names. JSON has all.
_MOST_NAMED = 10
_HEADINGS = ("Sustain time", "Cold starts", "Cost", "Ratio", "")
_LEGEND = (
    "Cold starts are inferences that wait for a raise. Cost is the time up and idle, plus a break-even time for each"
    " cold start after a gap. The ratio compares it with the cost if each gap were known when it begins."
)
_GAPS_SHOWN = (("half", 500_000), ("90 %", 900_000), ("99 %", 990_000))


@attrs.frozen
class FleetReport:
    """The content of a report.

    Attributes:
        folder: the folder of the trace files.
        question: the question to each trace file.
        extends: the profile that is tuned.
        aim: the aim that the sustain time must keep.
        fleet: the answers of the files.
        settled: the best choice for all.
        device: the device model, if one was named.
        saved_w: the power in W that lowering the votes saves, according to the device model.
    """

    folder: str
    question: Question
    extends: str
    aim: Aim
    fleet: Fleet
    settled: Settled
    device: str | None = None
    saved_w: float | None = None

    def as_text(self, width: int = WIDTH) -> str:
        """Return the report as text of a width."""
        return as_text((*map(Paragraph, self._head()), *self._choices(), *self._losses(), *self._left_out()), width)

    def _head(self) -> Iterator[str]:
        answers, fleet = self.fleet.answers, self.fleet
        left_out = f", {len(fleet.unread)} left out" if fleet.unread else ""
        kept = f" ({fleet.kept} of them by an earlier run)" if fleet.kept else ""
        yield f"{self.folder}: {counted(len(answers), 'file')} read{kept}{left_out}"
        if fleet.broken:
            yield f"{counted(fleet.broken, 'result')} of an earlier run broken, and read again"
        gaps = self.settled.gaps
        counts = (counted(self._total(f"{what}s"), what) for what in ("session", "inference"))
        yield f"{', '.join(counts)}, {counted(gaps.gaps, 'gap')}"
        if gaps.gaps:
            bounds = ((share, gaps.quantile_us(ppm)[1]) for share, ppm in _GAPS_SHOWN)
            said = [f"{share} shorter than {duration(most)}" for share, most in bounds if most is not None]
            yield f"Gaps: {', '.join(said)}" if said else "Most gaps are longer than 105 min"
        yield f"Break-even time {duration(self.question.break_even_us)} of {self.extends}"
        if self.device is not None and self.saved_w is not None:
            yield f"By the device model {self.device} a second of cost is {self.saved_w:.3g} J"
        noted = sum(1 for each in answers if each.notes)
        if noted:
            yield f"In {counted(noted, 'file')} something was left out; JSON shows what"

    def _total(self, name: str) -> int:
        return sum(getattr(each, name) for each in self.fleet.answers)

    def _choices(self) -> Iterator[Block]:
        settled = self.settled
        rows = [(sustain_text(each.sustain), each.cost, "learnt on each device") for each in settled.learnt]
        rows.append((sustain_text(settled.fixed.sustain), settled.fixed.cost, "the best fixed time for all"))
        place = [*settled.learnt, settled.fixed].index(settled.chosen)
        rows[place] = (*rows[place][:2], f"{rows[place][2]}: chosen")
        rows += [
            (sustain_text(VENDOR_SUSTAIN_US), settled.vendors.cost, "the vendor's"),
            (sustain_text(0), settled.at_once.cost, "lowered at once"),
            ("each its own", settled.own, "the best fixed time of each device"),
        ]
        yield Table("The cost of each sustain time", _HEADINGS, (self._row(*row) for row in rows))
        yield Paragraph(_LEGEND)
        if settled.gap_us is not None:
            yield Paragraph(f"Holds {self._holds()}.")
        if not settled.keeps and self.aim.most_cold_ppm is not None:
            share = share_text(self.aim.most_cold_ppm)
            yield Paragraph(f"No sustain time keeps to {share} of cold starts: the one with the fewest is chosen.")

    def _holds(self) -> str:
        """Return the longest gaps that a fixed time is valid for, in words."""
        sustain, gap_us = self.settled.chosen.sustain, self.settled.gap_us
        if not sustain or not gap_us:
            return "for gaps of any length"
        return f"for gaps up to {sustain_text(sustain)} (now up to {duration(gap_us)})"

    def _row(self, name: str, cost: Cost, about: str) -> tuple[str, ...]:
        ideal_us = self.settled.clairvoyant_us
        share = (cost.cold_starts + self._total("sessions")) / self._total("inferences")
        ratio = f"{cost.cost_us / ideal_us:.3f}" if ideal_us else "-"
        return name, f"{share * 100:.1f} %", f"{cost.cost_us / 1e6:.1f} s", ratio, about

    def _losses(self) -> Iterator[Block]:
        devices = self.settled.devices
        chosen = sustain_text(self.settled.chosen.sustain)
        yield Heading(f"The loss of each device by {chosen}, against its own best fixed time")
        losses = sorted(each.loss for each in devices)
        shares = (("half", 0.5), ("90 %", 0.9), ("99 %", 0.99), ("all", 1.0))
        at_most = (f"{name} {_gain(losses[math.ceil(share * len(losses)) - 1])}" for name, share in shares)
        yield Paragraph(f"at most: {', '.join(at_most)}")
        worst = [each for each in devices[:_MOST_NAMED] if each.loss > 0]
        rows = (
            (self._short(each), _gain(each.loss), sustain_text(each.best.sustain), counted(each.gaps, "gap"))
            for each in worst
        )
        yield Table("The devices that lose most", ("Device", "Loses", "Its own best", ""), rows)

    def _short(self, device: Device) -> str:
        path = Path(device.path)
        folder = Path(self.folder).absolute()
        return str(path.relative_to(folder)) if path.is_relative_to(folder) else device.path

    def _left_out(self) -> Iterator[Block]:
        unread = self.fleet.unread
        if unread:
            yield Heading(f"Left out: {counted(len(unread), 'file')} that can't be read")
            yield from (Paragraph(each.why) for each in unread[:_MOST_NAMED])
            if len(unread) > _MOST_NAMED:
                yield Paragraph(f"and {len(unread) - _MOST_NAMED} more, which JSON names")

    def as_json(self) -> str:
        """Return all of it as JSON."""
        settled, answers = self.settled, self.fleet.answers
        document = {
            "format_version": 1,
            "folder": self.folder,
            "extends": self.extends,
            "break_even_us": self.question.break_even_us,
            "device": self.device,
            "saved_w": self.saved_w,
            "aim": attrs.asdict(self.aim),
            "files_read": len(answers),
            "sessions": self._total("sessions"),
            "inferences": self._total("inferences"),
            "gaps": {**settled.gaps.as_json(), "count": settled.gaps.gaps},
            "chosen": _entry(settled.chosen.sustain, settled.chosen.cost),
            "holds": None
            if settled.gap_us is None
            else {"gaps_up_to_us": settled.chosen.sustain or None, "gaps_now_us": settled.gap_us or None},
            "keeps_to_cold_starts": settled.keeps,
            "best_fixed": _entry(settled.fixed.sustain, settled.fixed.cost),
            "learnt": [_entry(each.sustain, each.cost) for each in settled.learnt],
            "vendors": _entry(settled.vendors.sustain, settled.vendors.cost),
            "at_once": _entry(settled.at_once.sustain, settled.at_once.cost),
            "each_its_own": attrs.asdict(settled.own),
            "clairvoyant_us": settled.clairvoyant_us,
            "devices": [_device(each) for each in settled.devices],
            "notes": {each.file.path: each.notes for each in answers if each.notes},
            "unread": [attrs.asdict(each) for each in self.fleet.unread],
        }
        return json.dumps(document, indent=2)

    def as_profile(self, name: str) -> str:
        """Return a profile with the sustain time for all, with the reasons in comments."""
        settled = self.settled
        traces = counted(len(self.fleet.answers), "trace")
        ratios = (
            f"{sustain_text(each.sustain)} {each.cost.cost_us / settled.clairvoyant_us:.3f}"
            for each in (settled.chosen, settled.vendors, settled.at_once)
            if settled.clairvoyant_us
        )
        losses = sorted(each.loss for each in settled.devices)
        half, most = (_gain(losses[place]) for place in ((len(losses) - 1) // 2, -1))
        gaps, worth = counted(settled.gaps.gaps, "gap"), duration(self.question.break_even_us)
        comments = (
            f"The sustain time of {self.extends} for {traces} with {gaps}, at a break-even time of {worth}.",
            f"Cost compared with the cost if each gap were known when it begins: {', '.join(ratios)}.",
            f"Against its own best fixed time half of the devices lose {half} at most, and none more than {most}.",
            *(() if settled.gap_us is None else (f"Holds {self._holds()}.",)),
        )
        lines = [f"# {line}" for comment in comments for line in wrapped(comment, 110)]
        return "\n".join(
            (
                *lines,
                f"profile: {name}",
                f"extends: {self.extends}",
                f"summary: {self.extends} with the sustain time of a fleet of {traces}.",
                "relax:",
                f"  after_inference_us: {spell(settled.chosen.sustain)}",
                "",
            )
        )


def _entry(sustain: Sustain, cost: Cost) -> dict[str, Any]:
    said = {"adaptive": attrs.asdict(sustain)} if isinstance(sustain, Adaptive) else sustain
    return {"after_inference_us": said, **attrs.asdict(cost)}


def _device(device: Device) -> dict[str, Any]:
    loss = None if math.isinf(device.loss) else round(device.loss, 6)
    own = _entry(device.best.sustain, device.best.cost)
    return {
        "file": device.path,
        "gaps": device.gaps,
        **attrs.asdict(device.cost),
        "best_fixed": own,
        "loss_us": device.loss_us,
        "loss": loss,
    }


def _gain(loss: float) -> str:
    """Return a loss as a share. A negative loss is a gain."""
    return "all" if math.isinf(loss) else f"{loss * 100:+.1f} %"
