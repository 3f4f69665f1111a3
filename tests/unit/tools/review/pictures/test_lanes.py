"""The lanes of a picture, read back from the markup and compared with votes and times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs
import pytest
from support.dry_runs import dry_run, parsed
from support.helpers import hmx

from htppower.profiles.loading import load_profile
from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.timeline import timeline
from htppower.votes.clock_votes import VoltageRange
from htppower.votes.corners import VoltageCorner

if TYPE_CHECKING:
    import xml.etree.ElementTree as ET

    from htppower.profiles.profile import Profile

SVG = "{http://www.w3.org/2000/svg}"
# The left and right end of the plot, in px.
LEFT, RIGHT = 168, 970


def _voting(core: VoltageRange, bus: VoltageRange) -> Profile:
    burst = load_profile("burst")
    assert burst.votes.dcvs_v3 is not None
    return attrs.evolve(
        burst, votes=attrs.evolve(burst.votes, dcvs_v3=attrs.evolve(burst.votes.dcvs_v3, core=core, bus=bus))
    )


def _alike(corner: VoltageCorner) -> VoltageRange:
    return VoltageRange(corner, corner, corner)


def _drawn(profile: str | Profile, inferences: int = 3, inference_us: int = 5000, gap_us: int = 10_000) -> ET.Element:
    return parsed(as_svg(timeline(dry_run(profile, inferences, inference_us, gap_us))))


def _labels(root: ET.Element, place: int) -> dict[str, tuple[float, str]]:
    """Return the rows of a lane from the top, with heights and classes."""
    lanes: list[dict[str, tuple[float, str]]] = []
    for element in root:
        if element.tag == f"{SVG}g" and element.find(f"{SVG}text[@class='clock-name']") is not None:
            lanes.append({})
        elif lanes and element.tag == f"{SVG}text" and element.get("class") in {"voted", "near"}:
            lanes[-1][element.text or ""] = (float(element.get("y", "0")) - 4, element.get("class", ""))
    return lanes[place]


def _in_lane(root: ET.Element, clock: str, kind: str) -> list[ET.Element]:
    (lane,) = (each for each in root if each.get("class") == clock and each.find(f".//{SVG}path[@d]") is not None)
    return [element for element in lane if element.get("class") == kind]


def _in_lane_rects(root: ET.Element, clock: str) -> list[ET.Element]:
    (lane,) = (each for each in root if each.get("class") == clock and each.find(f"./{SVG}rect/{SVG}title") is not None)
    return list(lane.iter(f"{SVG}rect"))


def _is_wave(element: ET.Element) -> bool:
    """Return whether a zigzag crosses the axis of corners."""
    return element.get("d", "").startswith(f"M{LEFT - 6},")


def test_disable_is_drawn_as_no_vote() -> None:
    """A target of DISABLE is a dashed line on its own row: no corner, no solid line, no fill."""
    svg = as_svg(timeline(dry_run("extreme_power_saver")))
    root = parsed(svg)
    assert list(_labels(root, 0)) == ["no vote"]
    assert len(_in_lane(root, "core", "target no-vote")) == len(_in_lane(root, "bus", "target no-vote")) == 1
    assert not [element for element in root.iter() if element.get("class") in {"target", "range"}]
    assert "<title>no vote (DISABLE) from 0 us</title>" in svg
    assert ">no vote: a target of DISABLE</text>" in svg


def test_the_row_of_no_vote_is_below_every_corner() -> None:
    """If corners are voted at other times, "no vote" has the lowest row, outside of their order."""
    rows = _labels(_drawn(_voting(_alike(VoltageCorner.DISABLE), _alike(VoltageCorner.SVS))), 0)
    assert list(rows) == ["SVS_PLUS", "SVS", "SVS2", "MIN_VOLTAGE_CORNER", "no vote"]
    assert rows["no vote"][0] > rows["MIN_VOLTAGE_CORNER"][0]


@pytest.mark.parametrize(
    ("voted", "high", "low"),
    [
        (("SVS", "NOM", "TURBO"), "TURBO", "SVS"),
        (("DISABLE", "NOM", "TURBO"), "TURBO", "NOM"),
        (("SVS", "NOM", "DISABLE"), "NOM", "SVS"),
        (("SVS", "DISABLE", "TURBO"), "TURBO", "SVS"),
    ],
)
def test_a_range_reaches_from_min_to_max(voted: tuple[str, str, str], high: str, low: str) -> None:
    """The band reaches from the row of min to the row of max; DISABLE is not a limit and has no row."""
    corners = VoltageRange(*(VoltageCorner[name] for name in voted))
    root = _drawn(_voting(corners, corners))
    rows = _labels(root, 0)
    band = _in_lane(root, "core", "range")[0]
    top, height = float(band.get("y", "0")), float(band.get("height", "0"))
    assert (top, top + height) == (rows[high][0], rows[low][0])
    assert top < top + height
    assert "DISABLE" not in rows


def test_bold_is_what_is_voted_on_the_clock_itself() -> None:
    """Core and bus have the same rows; a row is bold only if that clock is voted."""
    profile = _voting(_alike(VoltageCorner.TURBO), _alike(VoltageCorner.NOM))
    core, bus = (_labels(_drawn(profile), place) for place in (0, 1))
    assert list(core) == list(bus)
    assert (core["TURBO"][1], core["NOM"][1]) == ("voted", "near")
    assert (bus["TURBO"][1], bus["NOM"][1]) == ("near", "voted")


def test_a_step_has_a_tip_where_it_is() -> None:
    """The tip of a step has its corners and time, and covers the step."""
    root = _drawn("balanced", 0, 10_000, 10_000)
    (first, second, *_) = (rect for rect in _in_lane_rects(root, "core") if rect.find(f"{SVG}title") is not None)
    assert first.findtext(f"{SVG}title") == "NOM_PLUS from 0 us"
    assert second.findtext(f"{SVG}title") == "SVS2 / SVS / SVS from 10 ms"
    width = 10 / 30 * (RIGHT - LEFT)
    assert float(first.get("x", "0")) == LEFT
    assert float(first.get("width", "0")) == pytest.approx(width, abs=0.1)
    assert float(second.get("x", "0")) == pytest.approx(LEFT + width, abs=0.1)


def test_a_wave_stands_where_corners_are_left_out() -> None:
    """A wave is exactly between rows that are not neighbours in the order of corners."""
    near = {"SVS2": 0, "SVS": 0, "SVS_PLUS": 0, "NOM": 0, "NOM_PLUS": 0, "TURBO": 1, "MAX_VOLTAGE_CORNER": 1}
    for name, waves in near.items():
        corner = _alike(VoltageCorner[name])
        root = _drawn(_voting(corner, corner), 0, 0, 0)
        drawn = [element for element in root if element.get("class") == "zigzag" and _is_wave(element)]
        assert len(drawn) == 2 * waves, name


def test_a_sustain_window_is_where_its_times_are() -> None:
    """Without a cut, the window begins and ends at its own times on a linear axis."""
    report = dry_run("burst", 1, 100_000, 100_000)
    root = parsed(as_svg(timeline(report)))
    (window,) = report.windows
    scale = (RIGHT - LEFT) / report.end_us
    (strip,) = (element for element in root if element.get("class") == "window")
    assert strip.findtext(f"{SVG}title") == "sustain, 300 ms"
    assert float(strip.get("x", "0")) == pytest.approx(LEFT + window.begin_us * scale, abs=0.1)
    assert float(strip.get("width", "0")) == pytest.approx(window.duration_us * scale, abs=0.1)


def test_an_explicit_hmx_vote_has_its_own_rows() -> None:
    """HMX has solid steps while it is voted, and dashed steps on the row of following, below its corners."""
    burst = load_profile("burst")
    root = _drawn(attrs.evolve(burst, votes=attrs.evolve(burst.votes, hmx_v2=hmx("NOM", "TUR", "TUR"))))
    rows = _labels(root, 2)
    assert rows["follows core"][0] > rows["NOM"][0] > rows["TUR"][0]
    assert len(_in_lane(root, "HMX", "target")) == len(_in_lane(root, "HMX", "target follows")) == 1
