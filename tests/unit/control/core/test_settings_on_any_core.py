"""Settings of the process are taken back on whichever core takes them: they are not those of one."""

from __future__ import annotations

import attrs
import pytest
from bench import Bench
from learning import relaxing

from htppower import Profile, State, VoteRejected, load_profile
from htppower.backends import SimulatedHtp
from htppower.votes.native_codes import FAILED, INVALID_INPUT
from htppower.votes.vote_set import VoteSet

SECOND_US = 1_000_000
LONGEST_BACK_OFF_US = 16 * SECOND_US


class OneDeadCore(SimulatedHtp):
    """Two cores, of which one refuses every vote, or has no id to give, from now on.

    Attributes:
        dead: the core, or None for none yet.
        gives_ids: whether it gives ids all the same.
    """

    def __init__(self) -> None:
        super().__init__(arch=75, cores=2)
        self.dead: int | None = None
        self.gives_ids = True
        self._core_of: dict[int, int] = {}

    def create_power_config_id(self, device_id: int, core_id: int) -> int:
        """Create an id, unless the core gives none."""
        if core_id == self.dead and not self.gives_ids:
            raise VoteRejected(INVALID_INPUT, function="createPowerConfigId", core=(device_id, core_id))
        made = super().create_power_config_id(device_id, core_id)
        self._core_of[made] = core_id
        return made

    def set_power_config(self, power_config_id: int, votes: VoteSet) -> None:
        """Vote, unless the core is dead."""
        if self._core_of[power_config_id] == self.dead:
            raise VoteRejected(FAILED, votes, power_config_id=power_config_id)
        super().set_power_config(power_config_id, votes)


def polls_and_says_nothing() -> Profile:
    """Return a profile that polls, and whose power states say nothing of that."""
    relax = load_profile("burst").relax
    assert relax is not None
    quiet = attrs.evolve(relax.to, votes=VoteSet(dcvs_v3=relax.to.votes.dcvs_v3))
    return relaxing(to=quiet, after_deinit_to=quiet)


def polling_us(backend: SimulatedHtp) -> int:
    """Return the polling time in force."""
    return backend.effective().rpc_polling_time_us


@pytest.mark.parametrize("ends", ["while it is open", "by closing it", "by closing the controller"])
def test_polling_of_a_session_on_a_dead_core_is_taken_back_on_another(ends: str) -> None:
    """No call on its own core succeeds any more; the one of a session that asks for nothing does."""
    backend = OneDeadCore()
    bench = Bench.make(backend)
    polls, other = bench.controller.session("burst"), bench.controller.session("balanced", core_ids=(1,))
    bench.infer(other)
    with polls.inference():
        assert polling_us(backend) == 9999
        backend.dead = 0
    if ends == "by closing it":
        polls.close()
    elif ends == "by closing the controller":
        bench.controller.close()
    bench.time.advance_us(SECOND_US + 3 * LONGEST_BACK_OFF_US)
    assert polling_us(backend) == 0
    backend.dead = None
    bench.controller.close()


def test_polling_of_a_session_with_a_dead_core_is_taken_back_on_its_other() -> None:
    """Its first core refuses what gives the settings back as it closes."""
    backend = OneDeadCore()
    bench = Bench.make(backend)
    session = bench.controller.session(polls_and_says_nothing(), core_ids=(0, 1))
    with session.inference():
        assert polling_us(backend) == 9999
    backend.dead = 0
    session.close()
    assert (session.state, polling_us(backend)) == (State.DESTROYED, 0)
    backend.dead = None
    bench.controller.close()


def test_an_id_for_the_settings_is_made_on_a_core_that_gives_one() -> None:
    """A device may have no core 0 that the controller may use: what was given an id before is tried first."""
    backend = OneDeadCore()
    backend.dead, backend.gives_ids = 0, False
    bench = Bench.make(backend)
    session = bench.controller.session(polls_and_says_nothing(), core_ids=(1,))
    with session.init():
        assert polling_us(backend) == 9999
    session.close()
    # After INIT nobody knows what is in force: it is cast once more, on an id of the controller's own.
    bench.controller.close()
    assert (bench.controller._ended, bench.time.alarms, polling_us(backend)) == (True, 0, 0)


@pytest.mark.parametrize("phase", ["init", "inference"])
def test_closing_takes_polling_back_also_after_a_lowering_that_failed(phase: str) -> None:
    """Whoever asked for it is known still, also where an INIT has ended, after which every vote is doubtful."""
    bench = Bench.make()
    session = bench.controller.session(polls_and_says_nothing())
    with getattr(session, phase)():
        bench.simulated.fail_next(FAILED)
    session.close()
    assert (session.state, polling_us(bench.simulated)) == (State.DESTROYED, 0)
    bench.controller.close()
