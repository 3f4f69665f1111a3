"""The item of custom that decides if the vendor's voter keeps the votes up after an inference."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.sustaining_items import CASES, custom_of

from htppower.votes.corners import VoltageCorner

if TYPE_CHECKING:
    from support.voter import Voter

# If the machine is busy for longer than 300 ms, votes come down between two inferences; if it is busy as a stage of the
# dialog begins or ends, a call is logged in another stage.
TRIES = 5


@pytest.mark.parametrize(("start", "done", "sustains"), CASES)
def test_the_last_item_that_says_it_counts(voter: Voter, start: bool | None, done: bool | None, sustains: bool) -> None:
    """Sustained votes are raised once for two inferences; otherwise each inference raises them."""
    text = json.dumps({"devices": [{"cores": [custom_of(start, done)]}]})
    assert any(raises(voter, text) == (1 if sustains else 2) for _ in range(TRIES))


def raises(voter: Voter, text: str) -> int:
    """Return the number of raises for the inferences of a dialog."""
    votes = [vote for call in voter.dialog(text).at("query") for vote in call.votes]
    return sum(fields["coreVoltageCornerTarget"] == VoltageCorner.NOM for name, fields in votes if name == "DCVS_V3")
