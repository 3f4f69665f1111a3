"""The directive ``picture``: an SVG of this folder in the page itself, so that it takes the page's colours.

On a narrow screen it scrolls instead of shrinking until it is unreadable.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from docutils import nodes
from docutils.parsers.rst import Directive

if TYPE_CHECKING:
    from sphinx.application import Sphinx


class Picture(Directive):  # type: ignore[misc]  # docutils comes without types
    """Shows an SVG; its title and description are in the file."""

    required_arguments = 1
    has_content: ClassVar[bool] = False

    def run(self) -> list[nodes.Node]:
        """Return the picture in a frame that scrolls."""
        path = Path(__file__).parent / self.arguments[0]
        self.state.document.settings.record_dependencies.add(str(path))
        svg = path.read_text(encoding="utf-8")
        framed = f'<div class="picture" tabindex="0">\n{svg}</div>'
        return [nodes.raw("", framed, format="html")]


def setup(app: Sphinx) -> None:
    """Add the directive."""
    app.add_directive("picture", Picture)
