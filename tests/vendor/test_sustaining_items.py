"""Which item of custom says whether the vendor's voter keeps the votes up after an inference."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from sustaining_items import CASES, custom_of

if TYPE_CHECKING:
    from voter import Voter


@pytest.mark.parametrize(("start", "done", "sustains"), CASES)
def test_the_last_item_that_says_it_counts(voter: Voter, start: bool | None, done: bool | None, sustains: bool) -> None:
    """Votes that stay up are raised once for two inferences; otherwise each inference raises and lowers them."""
    text = json.dumps({"devices": [{"cores": [custom_of(start, done)]}]})
    calls = voter.dialog(text, idle_s=0 if not sustains else 5).at("query")
    raises = [vote for call in calls for vote in call.votes if vote[0] == "DCVS_V3"]
    assert (len(raises) < 2 * 2) is sustains
