"""The answers of the library: whether it opens, and which harmless votes it takes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import attrs

from htppower.backends.qnn.htp import QnnHtp
from htppower.errors import BackendUnavailable, Unavailable, VoteRejected
from htppower.votes.native_codes import (
    INVALID_INPUT,
    LINK_LOST,
    NOT_ON_THIS_PLATFORM,
    NULL_CLIENT,
    SUCCESS,
    TRANSPORT,
)
from htppower.votes.options import PROCESS_WIDE, VOTE_OPTIONS, Option
from htppower.votes.vote_set import VoteSet

if TYPE_CHECKING:
    from htppower.backends.base import Backend, Description
    from htppower.tools.doctor.attempts import Attempts

# One vote of each option that asks for nothing: the value that cancels a vote, or a control latency of 0, which
# is not a vote.
HARMLESS = {option: 0 if about.taken_back is None else about.taken_back for option, about in VOTE_OPTIONS.items()}
# The answers to a call on a link that fails.
LINK_FAILS = LINK_LOST | {TRANSPORT}


@attrs.define
class Answers:
    """The answers of the library.

    Attributes:
        description: its description, or None if it can't be opened.
        problem: why it can't be used, or None.
        votes: the native code for a harmless vote of each option.
    """

    description: Description | None = None
    problem: BackendUnavailable | VoteRejected | None = None
    votes: dict[Option, int] = attrs.field(factory=dict)


def ask_library(library: str | None, soc_model: str | None, attempts: Attempts) -> Answers:
    """Open the library, send a harmless vote of each kind, and close it."""
    answers = Answers()
    try:
        backend = QnnHtp(library, soc_model)
    except BackendUnavailable as problem:
        answers.problem = problem
        return answers
    except Exception as error:  # noqa: BLE001 - the report must be made whatever the library does
        message = f"opening the library raised {type(error).__name__}: {error}"
        answers.problem = BackendUnavailable(Unavailable.NOT_LOADABLE, message, hint="use another library")
        return answers
    try:
        answers.description = backend.describe()
        answers.votes, answers.problem = _ask(backend)
    finally:
        attempts.of("closing the library", backend.close, None)
    return answers


def _ask(backend: Backend) -> tuple[dict[Option, int], VoteRejected | None]:
    """Return the answers, and the failure that prevents all votes."""
    devices = backend.describe().devices
    device_id = devices[0].device_id if devices else 0
    core_ids = devices[0].core_ids if devices else ()
    try:
        power_config_id = backend.create_power_config_id(device_id, core_ids[0] if core_ids else 0)
    except VoteRejected as rejected:
        return {}, rejected
    if power_config_id == NULL_CLIENT:
        # A vote on this id may override all other votes of the process, harmless or not (rule ID-1).
        core = (device_id, core_ids[0] if core_ids else 0)
        return {}, VoteRejected(INVALID_INPUT, function="createPowerConfigId", core=core)
    answers: dict[Option, int] = {}
    failed: VoteRejected | None = None
    for option, vote in HARMLESS.items():
        try:
            backend.set_power_config(power_config_id, VoteSet.of({option: vote}))
            answers[option] = SUCCESS
        except VoteRejected as rejected:
            answers[option] = rejected.code
            if not _may_be_left_out(option, rejected.code):
                failed = failed or rejected
    try:
        backend.destroy_power_config_id(power_config_id)
    except VoteRejected as rejected:
        failed = failed or rejected
    return answers, failed


def _may_be_left_out(option: Option, code: int) -> bool:
    """Return whether htppower votes without an option that was answered with a code.

    The platform lacks the option, or FastRPC refuses a setting of the process.
    """
    if option in PROCESS_WIDE:
        return code not in LINK_FAILS
    return option is not Option.DCVS_V3 and code in NOT_ON_THIS_PLATFORM
