"""The file of a service: what it says of each user, and the place of each problem."""

from __future__ import annotations

from pathlib import Path

import pytest

from htppower import ProfileError, load_profile
from htppower.hosts.service.limits import service_file
from htppower.profiles.cache import ProfileCache


@pytest.mark.needs("modes")
def test_a_user_has_its_own_entry_or_the_default(tmp_path: Path) -> None:
    """An entry is found by name or number; a user without one has the default entry, or the defaults."""
    path = tmp_path / "serve.yaml"
    path.write_text(
        "service: camera\nusers:\n- {user: root, most_leases: 1}\n- {user: '4711', cap: balanced}\n"
        "- {user: default, most_leases: 2}\n"
    )
    file = service_file(str(path), ProfileCache())
    assert file.allowed(0).fields.most_leases == 1
    cap = file.allowed(4711).cap
    assert cap is not None
    assert (cap.name, file.allowed(4711).fields.most_leases) == ("balanced", 64)
    assert file.allowed(12).fields.most_leases == 2
    assert service_file(None, ProfileCache()).allowed(12).fields.most_leases == 64


def test_a_cap_limits_only_what_goes_beyond_it(tmp_path: Path) -> None:
    """A lower profile stays, a higher one becomes the cap."""
    path = tmp_path / "serve.yaml"
    path.write_text("service: camera\nusers: [{user: default, cap: balanced}]\n")
    allowed = service_file(str(path), ProfileCache()).allowed(None)
    names = {name: allowed.limited(load_profile(name)).name for name in ("burst", "balanced", "power_saver")}
    assert names == {"burst": "balanced", "balanced": "balanced", "power_saver": "power_saver"}


@pytest.mark.needs("modes")
@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("users: []\n", 1, "service is missing"),
        ("service: x\nmost_conections: 3\n", 2, "most_conections"),
        ("service: x\nmost_connections: 0\n", 2, "most_connections is 0"),
        ("service: x\nusers:\n- {user: nobody-has-this-name}\n", 3, "no user is 'nobody-has-this-name'"),
        ("service: x\nusers:\n- {user: default, cap: brst}\n", 3, "brst"),
        ("service: x\nusers:\n- {user: root}\n- {user: '0'}\n", 4, "two entries"),
        ("service: x\nusers:\n- {user: default}\n- {user: default}\n", 4, "two entries"),
        ("service: x\nusers:\n- {user: root, most_leases: -1}\n", 3, "most_leases is -1"),
        ("service: x\npower_saver_cap: nothing\n", 2, "nothing"),
        ("service: x\nthermal_cap: {profile: balanced, above_c: 70, below_c: 80}\n", 2, "below_c is 80"),
        ("service: x\nthermal_cap: {profile: hot, above_c: 80, below_c: 70}\n", 2, "hot"),
        ("service: x\nmetrics_port: 70000\n", 2, "metrics_port is 70000"),
        ("service: x\nusers: {}\n", 2, "a list"),
        ("service: [\n", 2, ""),
    ],
)
def test_a_problem_has_its_place_and_what_to_do(tmp_path: Path, text: str, line: int, said: str) -> None:
    """The error names the file, the line and the value."""
    path = tmp_path / "serve.yaml"
    path.write_text(text)
    with pytest.raises(ProfileError) as caught:
        service_file(str(path), ProfileCache())
    problem = caught.value.problems[0]
    assert (Path(problem.path).name, problem.line) == ("serve.yaml", line)
    assert said in problem.message
    assert problem.hint


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    """The problems come in the order of their lines."""
    path = tmp_path / "serve.yaml"
    path.write_text("service: x\npower_saver_cap: none_such\nusers:\n- {user: nobody-has-this-name, cap: brst}\n")
    with pytest.raises(ProfileError) as caught:
        service_file(str(path), ProfileCache())
    assert [problem.line for problem in caught.value.problems] == [2, 4, 4]


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    """The service does not start with other limits than those that were asked for."""
    with pytest.raises(ProfileError, match="can't be read"):
        service_file(str(tmp_path / "serve.yaml"), ProfileCache())
