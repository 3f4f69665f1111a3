"""The SVG is well-formed, self-contained and legible for any timeline."""

from __future__ import annotations

import itertools
import re

import attrs
import pytest
from support.dry_runs import HOSTILE, dry_run, hostile, parsed, sustaining

from htppower.backends import SimulatedHtp
from htppower.events import Phase
from htppower.profiles.loading import load_profile
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.tools.report.svg import width_of
from htppower.tools.report.words import duration
from htppower.tools.review.pictures.axis import time_axis
from htppower.tools.review.pictures.svg import as_svg, describe
from htppower.tools.review.pictures.timeline import timeline

SVG = "{http://www.w3.org/2000/svg}"


def _texts(svg: str) -> list[str]:
    return [element.text or "" for element in parsed(svg).iter(f"{SVG}text")]


def _words(svg: str) -> str:
    return " | ".join(_texts(svg))


@pytest.mark.parametrize("profile", SHIPPED_PROFILES)
@pytest.mark.parametrize("inferences", [0, 3, 30])
def test_every_profile_is_well_formed_and_asks_for_nothing(profile: str, inferences: int) -> None:
    """The picture is XML with title, description and role; it refers to nothing outside, and runs no script."""
    svg = as_svg(timeline(dry_run(profile, inferences)))
    root = parsed(svg)
    assert root.get("role") == "img"
    ids = {element.get("id") for element in root.iter() if element.get("id")}
    assert set((root.get("aria-labelledby") or "").split()) <= ids
    assert [element.tag for element in list(root)[:2]] == [f"{SVG}title", f"{SVG}desc"]
    assert re.findall(r"https?:[^\"]*", svg) == ["http://www.w3.org/2000/svg"]
    assert not re.search(r"<script|<image|<use|@import|href|\son\w+=", svg)
    assert set(re.findall(r"url\(([^)]*)\)", svg)) <= {"#timeline-hatch"}


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_are_escaped(text: str) -> None:
    """A name or a summary stays text; characters that XML forbids are replaced."""
    svg = as_svg(timeline(dry_run(hostile(text))))
    assert {element.tag for element in parsed(svg).iter()} <= {
        SVG + name for name in ("svg", "title", "desc", "style", "defs", "pattern", "path", "rect", "line", "text", "g")
    }
    shown, whole = _texts(svg)[0], re.sub("[\x00-\x1f\ud800-\udfff]", "\ufffd", text)
    assert shown == whole or (shown[-1] == "\u2026" and whole.startswith(shown[:-1]))
    svg.encode("utf-8")


@pytest.mark.parametrize("char", ["x", "W", "\u6f22", "\U0001f525"])
def test_long_texts_are_cut_to_the_picture(char: str) -> None:
    """A summary wider than the picture ends in an ellipsis; wide characters count as wide."""
    shown = _texts(as_svg(timeline(dry_run(hostile(char * 3000)))))[1]
    assert shown.endswith("…")
    assert 40 < len(shown) < (75 if char > "z" else 130)
    assert _texts(as_svg(timeline(dry_run(hostile(char * 40)))))[1] == char * 40


@pytest.mark.parametrize(
    ("inferences", "told", "left_out"),
    [(3, 10, ""), (4, 12, ""), (5, 12, "and 2 more moments"), (300, 12, "and 592 more moments")],
)
def test_the_description_says_what_it_leaves_out(inferences: int, told: int, left_out: str) -> None:
    """Up to 12 moments are described; of more, the first 11, the number left out, and the last."""
    drawn = timeline(dry_run("balanced", inferences))
    parts = describe(drawn).split("; At ", 1)[1].split("; ")
    assert len(parts) + 1 == told + bool(left_out)
    assert parts[-1] == f"At {duration(drawn.end_us)}: core no vote, bus no vote, HMX no vote."
    assert [part for part in parts if " more" in part] == ([left_out] if left_out else [])


def test_the_description_is_of_the_whole_run() -> None:
    """A picture of the first 20 of 100 inferences describes all calls, up to DE-INIT, and says what is drawn."""
    whole = timeline(dry_run("balanced", 100))
    svg = as_svg(whole)
    assert describe(whole) in svg
    assert "208 native calls" in describe(whole)
    assert "Drawn are the first 20 inferences; 80 more are in the trace" in svg


def test_both_colour_schemes_are_in_the_file() -> None:
    """The same file is light or dark with the reader's system."""
    svg = as_svg(timeline(dry_run()))
    assert "@media (prefers-color-scheme: dark)" in svg
    assert svg.count("--ground: var(--color-background-primary, ") == 2


def test_the_corners_that_occur_are_named() -> None:
    """The corner axis has the voted corners and their neighbours, and not the corners between."""
    words = _texts(as_svg(timeline(dry_run("burst"))))
    for corner in ("MAX_VOLTAGE_CORNER", "TURBO_L5", "SVS_PLUS", "SVS", "SVS2", "MIN_VOLTAGE_CORNER"):
        assert words.count(corner) == 2, corner
    assert "NOM" not in words


def test_a_long_sustain_window_is_cut_and_says_so() -> None:
    """With 2 s next to 5 ms, the axis is cut and shows the length of the cut; the window shows its whole length."""
    words = _words(as_svg(timeline(dry_run(sustaining("burst", 2_000_000)))))
    assert "2 s cut" in words
    assert "sustain 2 s" in words


@pytest.mark.parametrize(
    ("sustain_us", "work"),
    [
        (2_000_000, (3, 5000, 10_000)),
        (300_000, (3, 33_000, 5)),
        (300_000, (2, 1, 3_600_000_000)),
        (7_654_321, (1, 1, 1)),
    ],
)
def test_the_lengths_of_cuts_stand_apart(sustain_us: int, work: tuple[int, int, int]) -> None:
    """Each cut has its length below it, and no two lengths touch, also next to a timeline with other cuts."""
    drawn, other = timeline(dry_run(sustaining("burst", sustain_us), *work)), timeline(dry_run("burst"))
    for svg in (as_svg(drawn), as_svg(drawn, (other,))):
        cuts = [element for element in parsed(svg).iter(f"{SVG}text") if element.get("class") == "cut"]
        ends = [(float(cut.get("x", "0")), width_of(cut.text or "", 11) / 2) for cut in cuts]
        assert all(x + half < after - wide for (x, half), (after, wide) in itertools.pairwise(ends))
        assert all(re.fullmatch(r"[\d.]+ m?s( cut)?", cut.text or "") for cut in cuts)


def test_a_name_stands_between_the_cuts_of_its_band() -> None:
    """A window with two cuts has its name and length in the widest part, and no cut crosses them."""
    one, other = timeline(dry_run("burst")), timeline(dry_run(sustaining("burst", 2_000_000)))
    root = parsed(as_svg(other, (one,)))
    (x,) = (float(each.get("x", "0")) for each in root.iter(f"{SVG}text") if each.text == "sustain 2 s")
    first, second = (cut.mark for cut in time_axis((other, one), 168, 970).breaks)
    half = width_of("sustain 2 s", 10) / 2
    assert first + 6 < x - half < x + half < second - 6


@pytest.mark.parametrize(("gap_us", "drawn"), [(10_000, True), (1, False)])
def test_the_legend_names_what_is_seen(gap_us: int, drawn: bool) -> None:
    """The legend has a range only if it is wide enough to be visible."""
    assert ("min to max" in _texts(as_svg(timeline(dry_run("burst", 3, 5000, gap_us))))) is drawn


def test_there_are_as_many_zigzags_as_cuts() -> None:
    """A cut is a gap through the lanes and in the axis; without a cut, lanes, axis and legend have none."""
    grounds = 'class="ground" d='
    for sustain_us, cuts in ((2_000_000, 1), (0, 0)):
        svg = as_svg(timeline(dry_run(sustaining("burst", sustain_us))))
        assert svg.count(grounds) == 2 * cuts
        assert svg.count('class="cut"') == svg.count("time axis cut short") == cuts


def test_words_lie_above_what_would_strike_them_through() -> None:
    """The words in a lane are drawn after cuts and lines of calls, on their own ground."""
    svg = as_svg(timeline(dry_run(sustaining("burst", 2_000_000))))
    assert svg.index("on-lane", svg.index("</style>")) > max(
        svg.rindex('class="call"'), svg.rindex('class="ground" d=')
    )


def test_a_name_has_ground_around_it_in_its_band() -> None:
    """A word in a band has some px on both sides, in a smaller size if needed."""
    svg = as_svg(timeline(dry_run("extreme_power_saver")))
    assert svg.count('class="band tight"') == 3
    width = 5 / 65 * 802
    assert width_of("INFERENCE", 10) > width - 5 > width_of("INFERENCE", 9)


def test_a_profile_without_votes_says_so() -> None:
    """The picture of system_settings has its phases, and says that no call is made."""
    words = _words(as_svg(timeline(dry_run("system_settings"))))
    assert "no call: this profile does not vote" in words
    assert "INIT" in words


@pytest.mark.parametrize("profile", ["burst", "balanced"])
def test_of_a_thousand_inferences_the_first_are_drawn(profile: str) -> None:
    """The picture shows 20 inferences, with what is in force then, and says where the others are."""
    whole = timeline(dry_run(profile, 1000))
    svg = as_svg(whole)
    assert len(svg) < 60_000
    assert svg.count('class="phase INFERENCE"') == 20 + 1  # and the sample of the legend
    assert "20 inferences; 980 more are in the trace" in _words(svg)
    drawn = whole.begin(20)
    assert drawn.end_us == [span.begin_us for span in whole.phases if span.phase is Phase.INFERENCE][20]
    for lane, part in zip(whole.lanes, drawn.lanes, strict=True):
        assert part.at(drawn.end_us - 1) == lane.at(drawn.end_us - 1)
    assert "980 more" not in as_svg(timeline(dry_run(profile, 20)))


@pytest.mark.parametrize("inferences", [0, 1, 10, 300, 1000])
@pytest.mark.parametrize("profile", ["burst", "balanced"])
def test_the_size_is_bounded(profile: str, inferences: int) -> None:
    """For any number of inferences, the picture is quick to open."""
    assert len(as_svg(timeline(dry_run(profile, inferences)))) < 250_000


@pytest.mark.parametrize("work", [(0, 0, 0), (3, 0, 0), (3, 0, 1), (1, 3_600_000_000, 0), (2, 1, 3_600_000_000)])
def test_extreme_workloads_are_drawn(work: tuple[int, int, int]) -> None:
    """Phases of zero length and of hours are drawn within the picture."""
    for profile in ("burst", "balanced", "system_settings"):
        root = parsed(as_svg(timeline(dry_run(profile, *work))))
        for rect in root.iter(f"{SVG}rect"):
            left, width = float(rect.get("x", "0")), float(rect.get("width", "0"))
            assert 0 <= left <= left + width <= 1000
            if (rect.get("class") or "").split()[:1] in (["phase"], ["window"]) and float(rect.get("y", "0")) < 100:
                assert 168 <= left <= left + width <= 970.1


def test_degradations_leave_nothing_to_draw_of_the_lost_vote() -> None:
    """On V73 and QNX the picture says that HMX follows the core clock, as it does."""
    for backend in (SimulatedHtp(arch=73), SimulatedHtp(arch=75, platform="qnx")):
        assert "so it follows the core clock" in _words(as_svg(timeline(dry_run("burst", backend=backend))))


def test_pictures_to_be_compared_share_their_scales() -> None:
    """Two compared timelines have the same axis labels and the same corner rows, bold or not."""
    one, other = timeline(dry_run("burst")), timeline(dry_run("balanced"))
    first, second = as_svg(one, (other,), "old"), as_svg(other, (one,), "new")
    marks = re.compile(r'<text class="(?:time|voted|near|cut)"([^>]*>[^<]*)</text>')
    assert marks.findall(first) == marks.findall(second)
    assert not set(re.findall(r' id="([^"]*)"', first)) & set(re.findall(r' id="([^"]*)"', second))


def test_the_window_after_init_is_named_in_the_picture() -> None:
    """The window's band, its tip and the legend say "after INIT"; without a sustain time nothing says "sustain"."""
    balanced = load_profile("balanced")
    assert balanced.relax is not None
    kept_up = attrs.evolve(balanced, relax=attrs.evolve(balanced.relax, after_init_us=8000))
    svg = as_svg(timeline(dry_run(kept_up, 1)))
    assert "after INIT 8 ms" in _texts(svg)
    assert "votes kept up: after INIT" in _texts(svg)
    assert ">after INIT, 8 ms</title>" in svg
    assert "sustain" not in _words(svg)
    assert not re.search(r"<title>sustain", svg)
