"""The list of everything that can be explained: rules, native codes, corners, states, phases and SoCs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from htppower.rules.platforms import ARCHITECTURES
from htppower.rules.socs import SOCS
from htppower.tools.report.layout import flowed, shown_width, wrapped
from htppower.tools.report.styled import styled
from htppower.tools.review.advice.rules import ADVICE_RULES
from htppower.tools.review.compare.rules import COMPARISON_RULES
from htppower.tools.review.explain.fastrpc_codes import FASTRPC_TEXTS
from htppower.tools.review.explain.session_words import session_words
from htppower.tools.review.lint.catalogue import CATALOGUE
from htppower.votes.corners import ExpandedCorner, VoltageCorner
from htppower.votes.native_codes import code_name, known_codes

if TYPE_CHECKING:
    from collections.abc import Iterator

_MORE = "htppower explain NAME explains each."


def as_lines(width: int) -> Iterator[str]:
    """Yield the list as text."""
    for heading, rows in _described():
        yield styled(heading, "bold")
        yield from _rows(rows, width)
        yield ""
    for heading, names in _named():
        yield styled(heading, "bold")
        yield from flowed([f"{name}," for name in names[:-1]] + [names[-1]], width, "  ", "  ", " ")
        yield ""
    yield from wrapped(_MORE, width)


def as_document() -> dict[str, Any]:
    """Return the list for JSON."""
    described = {heading: [{"id": name, "says": says} for name, says in rows] for heading, rows in _described()}
    return {**described, **{heading: list(names) for heading, names in _named()}}


def _described() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    families: dict[str, list[tuple[str, str]]] = {}
    for rule in CATALOGUE.values():
        families.setdefault(f"rules: {rule.family}", []).append((rule.id, rule.says))
    yield from families.items()
    yield "rules: advice", [(rule.id, rule.says) for rule in ADVICE_RULES.values()]
    yield "rules: comparison", [(rule.id, rule.says) for rule in COMPARISON_RULES.values()]
    yield "codes", [(str(code), code_name(code)) for code in known_codes()]
    yield "codes of FastRPC", [(hex(code), text.name) for code, text in FASTRPC_TEXTS.items()]
    yield "states and phases", list(session_words().items())


def _named() -> Iterator[tuple[str, list[str]]]:
    yield "corners", list(VoltageCorner.__members__)
    yield "expanded corners", list(ExpandedCorner.__members__)
    yield "architectures", [f"V{arch}" for arch in ARCHITECTURES]
    yield "SoCs", [name for soc in SOCS for name in soc.names]


def _rows(rows: list[tuple[str, str]], width: int) -> Iterator[str]:
    margin = max(shown_width(name) for name, _ in rows) + 4
    for name, says in rows:
        for place, line in enumerate(wrapped(says, width - margin)):
            yield f"{'' if place else f'  {name}':<{margin}}{line}"
