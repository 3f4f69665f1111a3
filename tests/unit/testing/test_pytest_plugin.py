"""The pytest fixtures, each in a pytest run of its own."""

from __future__ import annotations

import re

import pytest
from support.checkout import ROOT

pytest_plugins = ("pytester",)
pytestmark = pytest.mark.needs("importlib")

PLUGIN = "htppower.testing.pytest_plugin"


def run(pytester: pytest.Pytester, text: str) -> pytest.RunResult:
    """Run a file of tests with the plugin, installed or not, and no other setting."""
    pytester.makepyfile(text)
    return pytester.runpytest_inprocess("-p", "no:htppower", "-p", PLUGIN, "-p", "no:xdist", "--strict-markers", "-q")


def test_the_example_of_the_page_passes(pytester: pytest.Pytester) -> None:
    """The tests on the page about testing pass unchanged."""
    page = (ROOT / "docs" / "testing.md").read_text(encoding="utf-8")
    section = page.partition("## Fixtures for pytest")[2]
    block = re.findall(r"```python\n(.+?)```", section, re.DOTALL)[0]
    run(pytester, "from htppower import VoteRejected\n" + block).assert_outcomes(passed=2)


def test_the_fixtures_belong_together(pytester: pytest.Pytester) -> None:
    """The controller casts through the recorder on the simulated HTP, in the same virtual time."""
    run(
        pytester,
        """
        def test_parts(vote_controller, htp_recorder, simulated_htp, htp_time):
            assert htp_recorder.inner is simulated_htp
            simulated_htp.delay_calls(2_000, "setPowerConfig")
            with vote_controller.session("burst").inference():
                assert htp_time.now_us == 4_000  # clocks, and settings of the process
                assert simulated_htp.effective().core_target == 160
            assert [call.time_us for call in htp_recorder.calls] == [0, 0, 2_000]
            assert simulated_htp.platform.arch == 75
        """,
    ).assert_outcomes(passed=1)


def test_the_nearer_marker_wins(pytester: pytest.Pytester) -> None:
    """The test's own marker counts before the class's, and that before the module's."""
    run(
        pytester,
        """
        import pytest

        pytestmark = pytest.mark.simulated_htp(arch=69, cores=2, devices=2)


        @pytest.mark.simulated_htp(arch=73, cores=3)
        class TestCores:
            @pytest.mark.simulated_htp(arch=79)
            def test_it(self, simulated_htp):
                description = simulated_htp.describe()
                assert simulated_htp.platform.arch == 79
                assert [device.core_ids for device in description.devices] == [(0, 1, 2)] * 2
        """,
    ).assert_outcomes(passed=1)


def test_an_argument_without_a_name_is_refused(pytester: pytest.Pytester) -> None:
    """It is an error, since the test would run on another HTP than intended."""
    result = run(
        pytester,
        """
        import pytest

        @pytest.mark.simulated_htp(79)
        def test_it(simulated_htp):
            pass
        """,
    )
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*takes arguments by name, such as arch=79*"])


def test_what_stays_in_force_fails_the_test(pytester: pytest.Pytester) -> None:
    """An ID that exists after the controller was closed is an error of that test."""
    result = run(
        pytester,
        """
        def test_leaves_an_id(vote_controller, simulated_htp):
            simulated_htp.create_power_config_id(0, 0)
        """,
    )
    result.assert_outcomes(passed=1, errors=1)
    result.stdout.fnmatch_lines(["*power config ids (1,) were not destroyed*"])


def test_calls_that_overlap_fail_the_test(pytester: pytest.Pytester) -> None:
    """A native call during another thread's call is an error of the test, even if its exception was caught."""
    result = run(
        pytester,
        """
        import threading
        import pytest


        def beside(simulated_htp):
            with pytest.raises(RuntimeError):
                simulated_htp.create_power_config_id(0, 0)


        @pytest.mark.parametrize("overlaps", [0, 1, 2])
        def test_it(simulated_htp, overlaps):
            def sleep(_):
                for _ in range(overlaps):
                    thread = threading.Thread(target=beside, args=(simulated_htp,))
                    thread.start()
                    thread.join()

            simulated_htp._sleep = sleep
            simulated_htp.delay_calls(1)
            simulated_htp.create_power_config_id(0, 0)
        """,
    )
    result.assert_outcomes(passed=3, errors=2)
    result.stdout.fnmatch_lines(["1 native call began during a call of another thread"])
    result.stdout.fnmatch_lines(["2 native calls began during a call of another thread"])


def test_a_closing_that_failed_leaves_what_it_must(pytester: pytest.Pytester) -> None:
    """A test that ends with a dead DSP does not fail for votes that can't be taken back."""
    run(
        pytester,
        """
        def test_ends_dead(vote_controller, simulated_htp):
            with vote_controller.session("burst").inference():
                simulated_htp.restart_subsystem(fatal=True)
        """,
    ).assert_outcomes(passed=1)


def test_the_plugin_alone_imports_none_of_the_controller(pytester: pytest.Pytester) -> None:
    """A pytest run that uses no fixture imports no controller."""
    pytester.makepyfile(
        """
        import sys


        def test_nothing():
            loaded = {name for name in sys.modules if name.startswith("htppower.")}
            light = ("_exports", "_version", "testing", "testing.pytest_plugin")
            assert loaded <= {f"htppower.{name}" for name in light}
        """
    )
    pytester.runpytest_subprocess("-p", "no:htppower", "-p", PLUGIN, "-p", "no:xdist", "-q").assert_outcomes(passed=1)


def _each(bodies: list[str]) -> str:
    """Return a file with a test for each body; each test has an open session."""
    tests = (
        f"""
        def test_{number}(vote_controller, htp_time):
            session = vote_controller.session("burst", owner="camera")
            {body}
        """
        for number, body in enumerate(bodies)
    )
    return "        KEPT = []\n" + "".join(tests)


def test_an_inference_that_never_ends_fails_the_test(pytester: pytest.Pytester) -> None:
    """A kept ticket, also after its session's end, an open inference or an open stream is an error."""
    left = [
        "KEPT.append(session.begin())",
        "KEPT.append(session.begin(timeout_us=5))",
        "KEPT.append(session.inference()); KEPT[-1].__enter__()",
        "KEPT.append(session.stream([1, 2])); next(KEPT[-1])",
        "KEPT.append(session.begin()); session.close()",
        "KEPT.append(vote_controller.session('balanced').begin())",
    ]
    result = run(pytester, _each(left))
    result.assert_outcomes(passed=len(left), errors=len(left))
    said = "*<Session * has 1 inference that never ended: call end() of every ticket*"
    result.stdout.fnmatch_lines([said] * len(left))


def test_an_inference_that_ends_soon_is_no_leak(pytester: pytest.Pytester) -> None:
    """A closed stream, a dropped ticket and an expired ticket pass."""
    ended = [
        "session.begin()",
        "kept = session.begin(); cycle = [kept]; cycle.append(cycle)",
        "tokens = session.stream([1, 2]); next(tokens); tokens.close()",
        "tokens = session.stream([1, 2]); next(tokens)",
        "ticket = session.begin(timeout_us=5); htp_time.advance_us(5)",
        "KEPT.append(session.begin()); KEPT[0].end()",
    ]
    run(pytester, _each(ended)).assert_outcomes(passed=len(ended))


def test_a_test_that_fails_is_not_blamed_twice(pytester: pytest.Pytester) -> None:
    """The traceback of a failed test keeps its open inference, and this is not a second error."""
    run(
        pytester,
        """
        def test_fails(vote_controller):
            ticket = vote_controller.session("burst").begin()
            assert ticket is None
        """,
    ).assert_outcomes(failed=1)
