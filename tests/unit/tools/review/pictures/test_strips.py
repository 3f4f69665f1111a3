"""The strips of a picture: the votes other than clocks."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.dry_runs import dry_run, parsed

from htppower.profiles.loading import load_profile
from htppower.tools.review.pictures.svg import as_svg, describe
from htppower.tools.review.pictures.timeline import timeline

if TYPE_CHECKING:
    from htppower.profiles.profile import Profile

SVG = "{http://www.w3.org/2000/svg}"


def voting(**votes: Any) -> Profile:
    """Return burst with other votes."""
    burst = load_profile("burst")
    return attrs.evolve(burst, votes=attrs.evolve(burst.votes, **votes))


def sleeping(latency_us: int) -> Profile:
    """Return burst with another sleep latency."""
    hvx = load_profile("burst").votes.dcvs_v3
    assert hvx is not None
    return voting(dcvs_v3=attrs.evolve(hvx, sleep_latency_us=latency_us))


def strips(svg: str) -> dict[str, list[str]]:
    """Return the texts in the bars of each strip, by its field."""
    found: dict[str, list[str]] = {}
    field = ""
    for element in parsed(svg):
        if element.tag == f"{SVG}text" and element.get("class") in {"voted", "near"}:
            field = element.text or ""
        elif element.get("class") == "strip":
            found[field] = [text.text or "" for text in element.iter(f"{SVG}text")]
    return found


def test_every_field_that_is_voted_has_a_strip() -> None:
    """Burst votes on five fields apart from its clocks, and each strip shows its values over time."""
    assert strips(as_svg(timeline(dry_run("burst")))) == {
        "dcvs_enable": ["false", "true", "false", "true", "false"],
        "power_mode": ["ADJUST_UP_DOWN", "PERFORMANCE", "ADJUST_UP_DOWN"],
        "sleep_latency_us": ["40", "2000", "40", "2000", "40"],
        "rpc_control_latency_us": ["100"],
        "rpc_polling_time_us": ["9999", "0", "9999", "0", "9999"],
    }


@pytest.mark.parametrize(
    ("profile", "field", "value"),
    [
        (voting(rpc_polling_time_us=1234), "rpc_polling_time_us", "1234"),
        (voting(rpc_control_latency_us=200), "rpc_control_latency_us", "200"),
        (voting(hmx_timeout_us=5000), "hmx_timeout_us", "5000"),
        (sleeping(77), "sleep_latency_us", "77"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_change_of_a_setting_gives_another_picture(profile: Profile, field: str, value: str) -> None:
    """Two pictures differ by a setting, also for readers who can't see them."""
    one, other = timeline(dry_run("burst")), timeline(dry_run(profile))
    assert value in strips(as_svg(other, (one,)))[field]
    assert value not in strips(as_svg(one, (other,)))[field]
    assert f"{field} {value}" in describe(other)


def test_a_setting_of_the_other_side_has_its_strip_without_a_value() -> None:
    """Compared pictures have the same strips in the same order."""
    one, other = timeline(dry_run("burst")), timeline(dry_run(voting(hmx_timeout_us=5000)))
    assert list(strips(as_svg(one, (other,)))) == list(strips(as_svg(other, (one,))))
    assert strips(as_svg(one, (other,)))["hmx_timeout_us"] == []


def test_the_strips_are_what_is_in_force() -> None:
    """The steps of a setting are the votes in force after each call; equal votes are one step."""
    report = dry_run("sustained_high_performance")
    (polling,) = (each for each in timeline(report).settings if each.field == "rpc_polling_time_us")
    for row in report.rows:
        after = next(other for other in reversed(report.rows) if other.call.time_us == row.call.time_us)
        held = after.in_force.rpc_polling_time_us
        assert polling.at(row.call.time_us).text == (None if held is None else str(held))
    texts = [step.text for step in polling.steps]
    assert all(one != other for one, other in itertools.pairwise(texts))


def test_without_votes_there_is_no_strip() -> None:
    """A profile without votes has no strip."""
    assert strips(as_svg(timeline(dry_run("system_settings")))) == {}
