"""The pages are whole and self-contained, with every vote, call and finding, and every text escaped."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path

import attrs
import pytest
from support.dry_runs import HOSTILE, dry_run, hostile
from support.shipped import shipped_folder

from htppower.backends import SimulatedHtp
from htppower.errors import Finding, Place, Severity
from htppower.profiles.loading import load_profile
from htppower.profiles.names import SHIPPED_PROFILES
from htppower.profiles.profile import Lowering
from htppower.tools.review.diff.as_tables import HEAD
from htppower.tools.review.diff.as_tables import as_page as diff_page
from htppower.tools.review.diff.change import Cause, Change
from htppower.tools.review.diff.compare import Comparison, Pair
from htppower.tools.review.diff.effects import Effect
from htppower.tools.review.dry_run.drawn import as_page

VOID = {"meta", "br"}

FOUND = Finding(
    "SUS-1",
    ("relax", "after_inference_us"),
    "a sustain time of 5000 us",
    "0, or more",
    severity=Severity.WARNING,
    place=Place("burst.yaml", 20, 23),
)


def _compared(*changes: Change) -> Comparison:
    return Comparison("main & mine", "now", {}, {}, (), changes, (), ())


def _change(old: str, new: str) -> Change:
    place = Place("a.yaml", 1, 1)
    return Change("burst", "inference", "dcvs_v3.core", old, new, Effect.LOWERS_POWER, place, place, Cause(place))


class Outline(HTMLParser):
    """The elements of a page, which must be closed in order, and its texts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.tags.append(tag)
        self.attributes += attributes
        self.elements.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note an empty element of the picture."""
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag: str) -> None:
        """Close an element."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Note a text."""
        self.texts.append(data)


def _assert_self_contained(page: str) -> Outline:
    outline = Outline(page)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base", "form", "image", "use"} & set(
        outline.tags
    )
    assert not {"src", "href", "srcset", "style", "xlink:href"} & {name for name, _ in outline.attributes}
    assert not any(name.startswith("on") for name, _ in outline.attributes)
    policy = next(value for name, value in outline.attributes if name == "content" and "default-src" in (value or ""))
    assert (policy or "").startswith("default-src 'none'; style-src 'unsafe-inline'")
    assert set(re.findall(r"https?:[^\"]*", page)) == {"http://www.w3.org/2000/svg"}
    assert page.count("prefers-color-scheme: dark") >= 2
    return outline


@pytest.mark.parametrize("profile", SHIPPED_PROFILES)
def test_every_profile_is_a_whole_page_that_asks_for_nothing(profile: str) -> None:
    """The page is one document without script or reference, forbids both, and has a light and a dark scheme."""
    outline = _assert_self_contained(as_page(dry_run(profile)))
    assert (outline.tags.count("h1"), outline.tags.count("svg")) == (1, 1)


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_of_a_profile_are_escaped(text: str) -> None:
    """A hostile name and summary, and hostile findings, add no element to the page."""
    plain = Outline(as_page(dry_run(hostile("plain")), [FOUND]))
    found = attrs.evolve(FOUND, rule=text, place=Place(text), message=text, hint=text)
    made = _assert_self_contained(as_page(dry_run(hostile(text)), [found]))
    assert made.tags == plain.tags


@pytest.mark.parametrize("text", ["plain", *HOSTILE])
def test_a_page_can_be_read_without_eyes_or_mouse(text: str) -> None:
    """The content is in the main part; scrolling parts take focus and have a name; every table has a caption."""
    run = dry_run(hostile(text), 300)
    changed = diff_page(_compared(_change("a", "b")), [Pair("burst", run, run)])
    for made in (as_page(run, [FOUND]), as_page(dry_run("balanced", 300), [FOUND]), changed):
        outline = Outline(made)
        assert outline.tags.count("main") == 1
        assert outline.tags.count("caption") == outline.tags.count("table") > 0
        scrolled = [each for tag, each in outline.elements if tag == "figure" or each.get("class") == "scroll"]
        assert len(scrolled) == outline.tags.count("figure") + outline.tags.count("table")
        assert all(each.get("tabindex") == "0" and each.get("aria-label") for each in scrolled)
        assert all(each.get("role") == "region" for each in scrolled if each.get("class") == "scroll")


def test_the_headings_of_a_page_skip_no_level() -> None:
    """A reader who goes from heading to heading, or from table to table, finds each by its own name and level."""
    changes = [attrs.evolve(_change("a", "b"), effect=effect) for effect in Effect]
    outline = Outline(diff_page(_compared(*changes)))
    levels = [int(tag[1]) for tag in outline.tags if re.fullmatch("h[1-6]", tag)]
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))
    names = [each.get("aria-label") for _, each in outline.elements if each.get("class") == "scroll"]
    assert len(names) == len(set(names)) == len(Effect)


def test_a_shipped_file_is_named_wherever_it_is_installed() -> None:
    """A shipped file has no path of this machine in the page; any other file keeps its path."""
    burst = dry_run("burst")
    for made in (as_page(burst), diff_page(_compared(), [Pair("burst", burst, burst)])):
        assert "shipped burst.yaml" in Outline(made).texts
        assert str(shipped_folder()) not in made
    mine = attrs.evolve(load_profile("burst"), source=Path("/some/where/mine.yaml"))
    assert str(Path("/some/where/mine.yaml")) in Outline(as_page(dry_run(mine))).texts


def test_the_tables_hold_every_field_and_every_call() -> None:
    """Each field is shown raised and lowered, spelt as in a file, and each call with its time and votes."""
    report = dry_run("burst")
    texts = Outline(as_page(report)).texts
    place = texts.index("dcvs_v3.core")
    cells = [text for text in texts[place : place + 12] if text.strip()]
    assert cells[:3] == ["dcvs_v3.core", "MAX_VOLTAGE_CORNER", "{min: SVS2, target: SVS, max: SVS}"]
    for row in report.rows:
        assert str(row.call.time_us) in texts
        assert str(row.cause) in texts
    assert texts.count("rpc_polling_time_us: 9999") == 3


def test_a_background_lowering_is_told_where_it_acts() -> None:
    """The page mentions the background only if no timer lowers the votes anyway."""
    for name, told in (("balanced", True), ("burst", False)):
        profile = load_profile(name)
        assert profile.relax is not None
        relax = attrs.evolve(profile.relax, lowering=Lowering.BACKGROUND)
        made = as_page(dry_run(attrs.evolve(profile, relax=relax)))
        assert ("after the last inference, in the background, and" in made) is told
        assert "in the background" not in as_page(dry_run(profile))


def test_findings_are_shown() -> None:
    """The page shows exactly the given findings."""
    report = dry_run("burst")
    shown = {"warning", "SUS-1", "burst.yaml:20:23", "a sustain time of 5000 us", "0, or more"}
    assert shown <= set(Outline(as_page(report, [FOUND])).texts)
    assert "SUS-1" not in Outline(as_page(report)).texts


def test_degradations_are_shown() -> None:
    """On QNX the page names the missing votes, by rule."""
    texts = Outline(as_page(dry_run("burst", backend=SimulatedHtp(arch=75, platform="qnx")))).texts
    assert sum(text.startswith("RPC-4: ") for text in texts) == 2


def test_a_profile_without_votes_has_no_tables() -> None:
    """The page of system_settings says that it sends no votes."""
    outline = Outline(as_page(dry_run("system_settings")))
    assert "table" not in outline.tags
    assert any("sends no votes" in text for text in outline.texts)


def test_of_thousands_of_calls_the_first_and_last_are_shown() -> None:
    """A page keeps a readable size, and says how many calls are left out."""
    page = as_page(dry_run("balanced", 2000))
    assert len(page) < 150_000
    assert "3888 calls are left out" in page


def test_a_diff_page_shows_both_timelines_and_every_change() -> None:
    """Both runs are drawn, each change is a row, both costs are shown, and hostile cells are escaped."""
    old, new = dry_run("burst"), dry_run(attrs.evolve(load_profile("balanced"), name="<b>new</b>"))
    changed = _compared(_change("MAX_VOLTAGE_CORNER", "<img src=x>"))
    outline = _assert_self_contained(diff_page(changed, [Pair("burst", old, new), Pair("other", new, old)]))
    assert outline.tags.count("svg") == 4
    assert set(HEAD) <= set(outline.texts)
    row = {"burst", "inference", "dcvs_v3.core", "MAX_VOLTAGE_CORNER", "<img src=x>", "Lowers power", "a.yaml:1"}
    assert row <= set(outline.texts)
    assert "main & mine -> now" in outline.texts
    assert {"345000 us of 365000 us", "25000 us of 65000 us"} <= set(outline.texts)
    ids = [value for name, value in outline.attributes if name == "id"]
    assert len(ids) == len(set(ids))


def test_a_diff_page_without_a_change_says_so() -> None:
    """The page says that nothing changed, and shows no empty table."""
    assert "No change." in Outline(diff_page(_compared(), [])).texts
