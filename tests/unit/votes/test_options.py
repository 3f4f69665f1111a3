"""The table of vote options is complete, and agrees with the classes of the votes and with the C structs."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING, get_args

import attrs
import pytest

from htppower.backends.qnn import abi
from htppower.rules.platforms import ARCHITECTURES, OPERATING_SYSTEMS
from htppower.rules.power_order import costs
from htppower.tools.review.lint.catalogue import CATALOGUE, rules_on
from htppower.votes.clock_votes import DcvsV3
from htppower.votes.native import Option, native_config
from htppower.votes.options import BY_CLASS, BY_FIELD, PROCESS_WIDE, VOTE_OPTIONS
from htppower.votes.vote_set import LIMITS, VoteSet

if TYPE_CHECKING:
    from htppower.votes.option import VoteOption

EVERY = [pytest.param(about, id=about.field) for about in VOTE_OPTIONS.values()]


def test_a_vote_set_has_a_field_for_each_option_in_send_order() -> None:
    """The table and the vote set name the same fields in the same order."""
    assert [field.name for field in attrs.fields(VoteSet)] == list(BY_FIELD)
    assert [about.option for about in BY_FIELD.values()] == list(VOTE_OPTIONS)


@pytest.mark.parametrize("about", EVERY)
def test_an_option_is_told_whole(about: VoteOption) -> None:
    """Each option has a description, a source, rules, and the platforms that exist."""
    assert about.does.endswith(".")
    assert about.section
    assert rules_on(("votes", about.field))
    assert (about.rule_if_missing in CATALOGUE) == (about.option is not Option.DCVS_V3)
    assert {*about.not_on_archs, *([about.first_arch] if about.first_arch else ())} <= set(ARCHITECTURES)
    assert about.not_on_systems <= set(OPERATING_SYSTEMS)
    assert about.default is None or about.default == about.taken_back


@pytest.mark.parametrize("about", EVERY)
def test_a_vote_of_an_option_is_of_the_class_of_its_field(about: VoteOption) -> None:
    """The value that cancels a vote on an option is a valid vote, and its class has the fields in the table."""
    kinds = get_args(attrs.fields_dict(VoteSet)[about.field].type)
    assert type(about.taken_back) in kinds
    if about.fields:
        assert BY_CLASS[kinds[0]] is about
        assert {field.name for field in attrs.fields(kinds[0])} == {field.name for field in about.fields}
    else:
        assert kinds[0] in (int, bool)


@pytest.mark.parametrize("about", EVERY)
def test_the_native_form_fills_the_struct(about: VoteOption) -> None:
    """Each vote fills all fields of its C struct in order, each with a number of 32 bits."""
    vote = 1 if about.taken_back is None else about.taken_back
    config = native_config(about, vote, 7)
    assert (config.option, config.number) == (about.option.name, about.option.value)
    assert tuple(config.fields) == about.native_fields
    assert ctypes.sizeof(abi.STRUCTS.get(about.member, ctypes.c_uint32)) == 4 * len(about.native_fields)
    assert abi.power_config(config).option == about.option.value


def test_rpc_options_are_process_wide() -> None:
    """The three RPC options act on the process, and no other option does."""
    names = {option.name for option in PROCESS_WIDE}
    assert names == {"RPC_CONTROL_LATENCY", "RPC_POLLING_TIME", "ADAPTIVE_POLLING_TIME"}


def test_what_acts_on_the_process_is_aggregated() -> None:
    """Exactly the process-wide options are aggregated; the smallest latency above 0 counts, and the largest polling."""
    assert {about.option for about in VOTE_OPTIONS.values() if about.aggregate is not None} == PROCESS_WIDE
    wishes = {about.option.name: about.aggregate([0, 5, 9]) for about in VOTE_OPTIONS.values() if about.aggregate}
    assert wishes == {"RPC_CONTROL_LATENCY": 5, "RPC_POLLING_TIME": 9, "ADAPTIVE_POLLING_TIME": 9}


def test_every_number_has_a_range() -> None:
    """Each number has limits, and the value that takes the vote back is within them."""
    for about in VOTE_OPTIONS.values():
        if not about.fields and type(about.taken_back) is not bool:
            limits = LIMITS[VoteSet, about.field]
            assert about.taken_back in (None, *range(limits.low, min(limits.high, 10**6) + 1))
            assert not limits.hold(limits.low - 1)
            assert not limits.hold(limits.high + 1)
    assert str(LIMITS[DcvsV3, "sleep_latency_us"]) == "10 to 65535"
    assert (DcvsV3, "power_mode") not in LIMITS


def test_every_option_has_its_costs() -> None:
    """Each option has a cost in one of its forms, except a tolerated latency."""
    costly = {at[1] for at, _ in costs(VoteSet())}
    assert costly == set(BY_FIELD) - {"dcvs_v3_exp", "ceng_exp", "rpc_control_latency_us"}


def test_two_forms_of_a_vote_know_each_other() -> None:
    """The two forms of a vote name each other, and have the same needs."""
    pairs = {(about.option, about.other_form) for about in VOTE_OPTIONS.values() if about.other_form is not None}
    assert pairs == {(other, option) for option, other in pairs}
    assert len(pairs) == 4
    for option, other in pairs:
        assert VOTE_OPTIONS[option].needs_hvx == VOTE_OPTIONS[other].needs_hvx
        assert VOTE_OPTIONS[option].partial == VOTE_OPTIONS[other].partial


def test_what_a_platform_lacks_takes_along_what_needs_it() -> None:
    """Without the HVX option, every vote that needs one is left out; other sets stay as they are."""
    hvx = VOTE_OPTIONS[Option.DCVS_V3_EXP].taken_back
    hmx, ceng = (VOTE_OPTIONS[option].taken_back for option in (Option.HMX_V2, Option.CENG))
    votes = VoteSet(dcvs_v3_exp=hvx, hmx_v2=hmx, ceng=ceng, rpc_polling_time_us=1)
    assert votes.where_absent(Option.DCVS_V3, Option.DCVS_V3_EXP) == VoteSet(rpc_polling_time_us=1)
    assert votes.where_absent(Option.DCVS_V3_EXP).options[0] is Option.DCVS_V3
    assert votes.where_absent(Option.CENG) == VoteSet(dcvs_v3_exp=hvx, hmx_v2=hmx, rpc_polling_time_us=1)
    assert votes.where_absent() == votes
    assert VoteSet(hmx_v2=hmx, ceng=ceng).where_absent(Option.CENG) == VoteSet(hmx_v2=hmx)
