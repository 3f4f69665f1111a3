"""Finds the places of findings in their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.errors import Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from htppower.errors import Finding, KeyPath


def place_of(candidates: Iterable[KeyPath], places: Mapping[KeyPath, Place], path: str) -> Place:
    """Return the place of the first candidate that is in the file itself.

    A candidate without a place uses the place of the mapping or list around it. If all candidates are in extended
    files, the place of the first is returned; if no candidate has a place, the place of the file.
    """
    found = []
    for candidate in candidates:
        at = candidate
        while at and at not in places:
            at = at[:-1]
        if at in places:
            found.append(places[at])
    own = [place for place in found if place.path == path]
    return (own or found or [Place(path)])[0]


def located(
    finding: Finding, path: str, places: Mapping[KeyPath, Place], key_places: Mapping[KeyPath, Place]
) -> Finding:
    """Return a finding with the best place to correct it."""
    of = key_places if finding.of_key and finding.at in key_places else places
    return attrs.evolve(finding, place=place_of((finding.at, *finding.also), of, path))
