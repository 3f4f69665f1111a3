"""Lint and import of extension files, compared with the vendor's parser.

The vendor refuses a file if and only if lint finds an error in it, and import makes no profile of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from support.extension_disagreements import accepted, disagreements, is_imported, is_refused
from support.extension_mutations import CHAT_APP
from support.extension_verdicts import REFUSED, TAKEN
from support.imported import clocks

from htppower.tools.extensions.extension_file import parse_extension_file
from htppower.tools.extensions.to_profiles import to_profiles
from htppower.tools.review.diff.extension_parts import parts_of

if TYPE_CHECKING:
    from support.voter import Voter

FILES = 700
OPEN = 0.15


def test_refused_by_the_vendor_if_and_only_if_by_lint_and_import(reader: Voter) -> None:
    """Lint, import and the parser agree on every random file, and each answer occurs often."""
    wrong, refused, odd = disagreements(reader, range(FILES))
    assert not wrong, wrong[0]
    assert FILES / 4 < refused < FILES * 3 / 4
    assert odd < FILES * OPEN


def test_a_real_file_is_taken(reader: Voter) -> None:
    """Both accept the file that ChatApp ships."""
    data = json.dumps(CHAT_APP).encode()
    assert accepted(reader, data)
    assert not is_refused(data)
    assert is_imported(data)


def test_the_files_that_mended_the_model_are_judged_alike(reader: Voter) -> None:
    """The parser gives the answers that the unit tests expect of lint and import."""
    assert [text for text in TAKEN if not accepted(reader, text.encode())] == []
    assert [text for text in REFUSED if accepted(reader, text.encode())] == []


def cores(*each: dict[str, Any], **device: Any) -> dict[str, Any]:
    """Return a file with cores."""
    return {"devices": [{**device, "cores": list(each)}]}


BURST = {"perf_profile": "burst"}
START = ["init_start", "inference_start"]


@pytest.mark.parametrize(
    "file",
    [
        cores({**BURST, "my_perf_profile": "balanced"}),
        cores({"my_perf_profile": "balanced", **BURST}),
        cores({**BURST, "zzz": {"perf_profile": "power_saver"}}),
        cores({**BURST, "x_perf_profiles": ["balanced", "low_balanced"]}),
        cores({**BURST, "my_rpc_control_latency": 55, "rpc_polling_timex": 77.0}),
        cores({**BURST, "rpc_polling_time": 0, "adaptive_polling_time": 1000}),
        cores({"perf_profile": "balanced", "adaptive_polling_time": 1000}),
        cores({**BURST, "adaptive_polling_time": 1000}),
        cores({**BURST, "custom": []}, dsp_arch="v90"),
        cores({**BURST, "custom": [{"graphState": ["init_start"]}]}),
        cores({**BURST, "rpc_polling_time": 20_000}),
        cores({"perf_profile": "balanced\0x"}),
        cores(
            {
                "perf_profile": "custom",
                "custom": [{"graphState": START, "dcvsControl": clocks("NOM"), "my_rpc_polling_time": 77}],
            }
        ),
    ],
    ids=range(13),
)
def test_what_is_cast_is_what_import_and_diff_read(voter: Voter, file: dict[str, Any]) -> None:
    """Keys are read by the words in their names, and the last of several counts; numbers are sent as written."""
    data = json.dumps(file).encode()
    cast: dict[str, int] = {}
    for call in voter.dialog(data).at("create"):
        for name, fields in call.votes:
            (field,) = ("coreVoltageCornerTarget",) if name == "DCVS_V3" else fields
            cast.setdefault(name, fields[field])
    (part,) = parts_of(parse_extension_file(data, "a.json"))
    votes = part.profile.value.votes
    assert votes.dcvs_v3 is not None
    assert votes.dcvs_v3.core is not None
    assert cast["DCVS_V3"] == votes.dcvs_v3.core.target
    assert cast["rpc_control_latency"] == votes.rpc_control_latency_us
    assert cast.get("rpc_polling_time", 0) == (votes.rpc_polling_time_us or 0)
    assert cast.get("adaptive_polling_time", 0) == (votes.adaptive_polling_time_us or 0)
    (made,) = to_profiles(parse_extension_file(data, "a.json"))
    assert made.profile.votes.dcvs_v3 == votes.dcvs_v3
