"""Every text of pictures and pages has a contrast of 4.5:1 (WCAG AA) in both colour schemes."""

from __future__ import annotations

import itertools
import re
from typing import TypeAlias

import attrs
import pytest
from support.dry_runs import dry_run, parsed

from htppower.profiles.loading import load_profile
from htppower.tools.report.as_html import as_html
from htppower.tools.report.svg import STYLE
from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.timeline import timeline

Colour: TypeAlias = "tuple[float, float, float]"

ENOUGH = 4.5
# The ground of the words in a band: the fill of a phase, or the hatching of a window at its densest.
BAND_FILLS = (("inference", 0.22), ("prepare", 0.22), ("sustain", 0.22))


def _schemes(style: str) -> dict[str, dict[str, Colour]]:
    """Return the colours by name: the light scheme, and the dark scheme, which overrides some of them."""
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    named = re.compile(r"--([a-z]+): (?:var\([^,]*, )?#([0-9a-f]{6})")
    colours = {scheme: dict(named.findall(part)) for scheme, part in (("light", light), ("dark", dark))}
    colours["dark"] = {**colours["light"], **colours["dark"]}
    return {scheme: {name: _colour(said) for name, said in found.items()} for scheme, found in colours.items()}


def _colour(said: str) -> Colour:
    red, green, blue = (int(said[place : place + 2], 16) / 255 for place in (0, 2, 4))
    return red, green, blue


def _over(colour: Colour, ground: Colour, opacity: float) -> Colour:
    red, green, blue = (opacity * up + (1 - opacity) * down for up, down in zip(colour, ground, strict=True))
    return red, green, blue


def _luminance(colour: Colour) -> float:
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _contrast(one: Colour, other: Colour) -> float:
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _fill(kinds: str, clock: str) -> str:
    """Return the name of the colour that fills a text of these classes; no rule makes it fainter."""
    name = "ink"
    for selectors, rules in re.findall(r"(\.htp [^{}]*){([^}]*)}", STYLE.split("} }")[-1]):
        if {f".htp .{kind}" for kind in kinds.split()} & set(selectors.strip().split(", ")):
            assert "opacity" not in rules, selectors
            name = next(iter(re.findall(r"(?<!-)fill: var\(--([a-z]+)\)", rules)), name)
    return clock if name == "clock" else name


def _kinds_of_text() -> set[str]:
    burst = load_profile("burst")
    assert burst.relax is not None
    kept_up = attrs.evolve(burst, relax=attrs.evolve(burst.relax, after_init_us=8000))
    drawn = [as_svg(timeline(dry_run(run))) for run in ("burst", "extreme_power_saver", "system_settings", kept_up)]
    texts = itertools.chain.from_iterable(parsed(svg).iter("{http://www.w3.org/2000/svg}text") for svg in drawn)
    return {text.get("class", "") for text in texts}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_of_a_picture_stands_out(scheme: str) -> None:
    """Each class of text has a contrast of 4.5:1 on its background; words in bands have it on every band's fill."""
    colours = _schemes(STYLE)[scheme]
    ground = colours["ground"]
    kinds = _kinds_of_text()
    assert {"near", "voted", "band", "band tight", "cut", "faint", "clock-name"} <= kinds
    for kind in kinds:
        grounds = [ground]
        if "band" in kind.split():
            grounds += [_over(colours[fill], ground, opacity) for fill, opacity in BAND_FILLS]
        for clock, behind in itertools.product(("core", "bus", "hmx"), grounds):
            assert _contrast(colours[_fill(kind, clock)], behind) >= ENOUGH, (kind, clock)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_of_a_page_stands_out(scheme: str) -> None:
    """The text colours of a page reach 4.5:1 on its ground, and on a row under the pointer."""
    style = as_html((), "", "").split("<style>")[1].split("</style>")[0]
    colours = _schemes(style)[scheme]
    for ink, ground in itertools.product(("ink", "faint"), ("ground", "box")):
        assert _contrast(colours[ink], colours[ground]) >= ENOUGH, (ink, ground)
    assert "opacity" not in style


def test_contrast_is_measured_as_the_standard_does() -> None:
    """Black on white is 21:1, and the grey #767676 is the lightest that reaches 4.5:1 on white."""
    white = _colour("ffffff")
    assert _contrast(_colour("000000"), white) == pytest.approx(21)
    assert _contrast(_colour("767676"), white) >= ENOUGH > _contrast(_colour("777777"), white)
