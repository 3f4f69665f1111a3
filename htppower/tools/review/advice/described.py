"""A report and its measurements in words, for the text and for the HTML page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htppower.tools.report.words import counted, three_digits, time
from htppower.tools.review.advice.events import LEVELS, Event
from htppower.tools.review.advice.numbers import Numbers
from htppower.tools.review.advice.statistics import present

if TYPE_CHECKING:
    from collections.abc import Iterator

    from htppower.tools.review.advice.advice import Report, Told
    from htppower.tools.review.advice.measurement import Measurement

NOTHING = "Nothing to gain"
_HOST = "QNN (execute), NetRun and RPC are host time; everything within QNN accelerator (3002) is device time."
_NO_DEVICE = "All times are the host's: without rows of the HTP (3001 to 3012) nothing shows where the time goes."
_MOVED = "A power-up has moved the averages: unless it says otherwise, the evidence below uses the smallest numbers."
_OF_QUERIES = (Event.FIRST_TOKEN, Event.PROMPT_TOKENS, Event.PROMPT_RATE, Event.TOKENS, Event.TOKEN_RATE)
_CYCLES = (
    "Cycles are not wall time, nor a clock if divided by time: ops run side by side, and their cycles are added up."
)


def headline(report: Report) -> str:
    """Return the result in one line."""
    if report.simulated:
        return "No advice: this was made by the simulation on x86-64, not by a device."
    if not report.told and not any(Numbers(each).has(event) for each in report.measurements for event in LEVELS[1:]):
        return "No advice: without rows of the HTP these numbers do not show whether anything can be gained."
    if not report.told:
        return f"{NOTHING}: no rule has found anything in these numbers."
    return f"{len(report.told)} {'piece' if len(report.told) == 1 else 'pieces'} of advice, the largest gain first."


def about(measured: Measurement) -> str:
    """Return what was measured, in one line."""
    count = "averages" if measured.averaged else counted(measured.count, _word(measured))
    sessions = f" in {counted(len(measured.starts), 'session')}" if len(measured.starts) > 1 else ""
    profile = "unknown profile" if measured.profile is None else f"profile {measured.profile.name}"
    soc = "" if measured.soc is None else f", {'/'.join(measured.soc.names)}"
    return f"{measured.form}, {count}{sessions}, {profile}{soc}"


def to_do(told: Told) -> tuple[str, ...]:
    """Return what to do, in lines: once if it is the same for all measurements, else by name for each group."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for measured, each in told.about:
        groups.setdefault(each.do, []).append(measured.name)
    if len(groups) == 1:
        return told.advice.do
    return tuple(line for do, names in groups.items() for line in (f"for {'; '.join(names)}:", *do))


def _word(measured: Measurement) -> str:
    if Event.FIRST_TOKEN in measured.columns:
        return "query"
    return "inference"


def _rates(measured: Measurement) -> Iterator[str]:
    """Yield how fast a language model is, in one line. Genie writes 0 for a query without tokens, which has no rate."""
    numbers = Numbers(measured)
    first_us, prompt, prompt_rate, tokens, token_rate = (numbers.typical(event) for event in _OF_QUERIES)
    if first_us:
        of = "" if prompt is None else f" of a prompt of {prompt:g} tokens"
        yield f"The first token{of} comes after {time(first_us)}."
    if prompt_rate:
        yield f"Prompts are processed at {three_digits(prompt_rate)} tokens/s."
    if token_rate:
        of = "" if tokens is None else f" of {tokens:g} tokens"
        yield f"Answers{of} are generated at {three_digits(token_rate)} tokens/s."


def notes(measured: Measurement) -> Iterator[str]:
    """Yield notes on how to read the numbers."""
    yield from _rates(measured)
    yield from measured.notes
    if measured.simulated:
        return
    numbers = Numbers(measured)
    if numbers.moved_by_a_cold_start:
        yield _MOVED
    if any(numbers.has(event) for event in LEVELS[1:]):
        yield _HOST
    elif numbers.has(Event.QNN) or numbers.has(Event.NETRUN):
        yield _NO_DEVICE
    if any(present(measured.columns.get(event, ())) for event in (Event.CYCLES, Event.CRITICAL_PATH)):
        yield _CYCLES
