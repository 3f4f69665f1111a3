"""The page and the picture in a real browser: both colour schemes, and no request."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING

import pytest
from support.chromium import CHROMIUM, DARK, LIGHT, Browser
from support.dry_runs import dry_run, hostile

from htppower.tools.review.dry_run.drawn import as_page
from htppower.tools.review.pictures.svg import as_svg
from htppower.tools.review.pictures.timeline import timeline

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on PATH")


@pytest.fixture
def browser(tmp_path: Path) -> Browser:
    """Return a browser that keeps its files in a folder of its own."""
    return Browser(tmp_path)


def _page(tmp_path: Path, name: str, text: str) -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_page_renders_in_both_colour_schemes(browser: Browser, tmp_path: Path) -> None:
    """The background is white or nearly black, by the reader's setting, with the colours of the lanes on it."""
    page = _page(tmp_path, "burst.html", as_page(dry_run("burst")))
    light, dark = browser.picture(page, LIGHT), browser.picture(page, DARK)
    assert light.commonest == (255, 255, 255)
    assert dark.commonest == (13, 17, 23)
    assert {(188, 76, 0), (9, 105, 218)} <= set(light.colours)
    assert {(240, 136, 62), (68, 147, 248)} <= set(dark.colours)


def test_the_picture_alone_renders_in_both_colour_schemes(browser: Browser, tmp_path: Path) -> None:
    """An SVG opened alone is light or dark, too."""
    page = _page(tmp_path, "burst.svg", as_svg(timeline(dry_run("burst"))))
    assert (188, 76, 0) in browser.picture(page, LIGHT).colours
    assert (240, 136, 62) in browser.picture(page, DARK).colours


def test_a_browser_reads_the_page_as_it_was_meant(browser: Browser, tmp_path: Path) -> None:
    """A hostile summary is shown as text, and runs nothing."""
    text = "<script>document.title='pwned'</script><img src=x onerror=document.title='pwned'>"
    dom = browser.dom(_page(tmp_path, "hostile.html", as_page(dry_run(hostile(text)))))
    assert "&lt;script&gt;" in dom
    assert "<script" not in dom
    assert "<img" not in dom


def test_the_page_makes_no_request(browser: Browser, tmp_path: Path) -> None:
    """The page makes no request and may make none; the same log shows the request of another page."""
    asks = '<img src="http://127.0.0.1:9/picture.png">'
    forbidden = as_page(dry_run("burst")).replace("<footer>", f"{asks}<footer>")
    assert asks in forbidden
    assert browser.requests(_page(tmp_path, "forbidden.html", forbidden)) == []
    other = browser.requests(_page(tmp_path, "other.html", f"<!DOCTYPE html><title>other</title>{asks}"))
    assert "http://127.0.0.1:9/picture.png" in other


# A page in a frame of a given width, and a script that measures the page.
_FRAME = """<!DOCTYPE html><title>measuring</title><iframe width="{width}" height="800" srcdoc="{page}"></iframe>
<script>onload = () => {{
  const page = document.querySelector("iframe").contentDocument, root = page.documentElement;
  const rows = [...page.querySelectorAll("tbody tr")].map(row => row.getBoundingClientRect().height);
  document.title = JSON.stringify({{wide: root.scrollWidth, shown: root.clientWidth, highest: Math.max(...rows),
    long: root.scrollHeight}});
}};</script>"""


@pytest.mark.parametrize("width", [400, 700])
def test_a_narrow_page_is_read_without_scrolling_aside(
    browser: Browser, command: Command, tmp_path: Path, width: int
) -> None:
    """On half a screen and on a phone, every row of a table fits the width."""
    (tmp_path / "trace.csv").write_text(
        "begin_us,end_us\n" + "".join(f"{begin},{begin + 9000}\n" for begin in range(0, 12_000_000, 40_000))
    )
    command.output("tune", str(tmp_path / "trace.csv"), "--page", str(tmp_path / "tuned.html"))
    tuned = (tmp_path / "tuned.html").read_text(encoding="utf-8")
    for number, page in enumerate((as_page(dry_run("burst")), tuned)):
        framed = _FRAME.format(width=width, page=html.escape(page))
        dom = browser.dom(_page(tmp_path, f"framed-{number}.html", framed))
        seen = json.loads(html.unescape(dom.partition("<title>")[2].partition("</title>")[0]))
        assert seen["wide"] <= seen["shown"]
        assert seen["highest"] <= 420
