"""Files with different cores: the vendor's voter casts the votes of their import."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from support.several_cores import CASES, SeveralCores

from htppower.tools.extensions.extension_file import as_inner, parse_extension_file
from htppower.tools.extensions.to_profiles import to_profiles

if TYPE_CHECKING:
    from support.voter import Voter


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_is_cast_for_several_cores_is_what_import_votes(voter: Voter, case: SeveralCores) -> None:
    """Compared are the first raise in INIT, the relaxed votes after it, and the other votes."""
    beside = {"rpc_polling_time": 0, "rpc_control_latency": 0}
    cast: list[tuple[int, int]] = []
    for call in voter.dialog(case.text).calls:
        for name, fields in call.votes:
            if name == "DCVS_V3":
                cast.append((fields["coreVoltageCornerTarget"], fields["sleepLatency"]))
            else:
                beside[name] = fields["value"]
    raised, relaxed = cast[:2]
    made, *_ = to_profiles(as_inner(parse_extension_file(case.text, "a.json")))
    voted = (*raised, *relaxed, beside["rpc_polling_time"], beside["rpc_control_latency"])
    assert voted == case.of_profile(made.profile) == case.expected
