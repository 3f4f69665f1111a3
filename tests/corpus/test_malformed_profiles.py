"""Malformed profiles: each is refused for exactly what is wrong with it, at the place where it is written."""

from __future__ import annotations

import csv
import itertools
import tempfile
from pathlib import Path

import pytest
import yaml
from checkout import CORPUS
from hypothesis import given, settings
from hypothesis import strategies as st

from htppower import Problem, Profile, ProfileError, RuleBreach, load_profile, profile_names
from htppower.profiles import strict_yaml
from htppower.profiles.discovery import shipped_folder

MALFORMED = CORPUS / "malformed"

SHIPPED = shipped_folder()
CLASSES = {"ProfileError": ProfileError, "RuleBreach": RuleBreach}

# What is wrong stands in a part that the file extends, and is reported there.
IN_A_PART = {
    "extends-broken-part.yaml": "parts/duplicate-key.yaml",
    "extends-in-a-circle-of-three.yaml": "parts/homeward.yaml",
    "extends-in-a-circle-of-two.yaml": "parts/back.yaml",
    "extends-list-part.yaml": "parts/list.yaml",
    "extends-refused-part.yaml": "parts/polling-10000.yaml",
}

# Rules for which there is always something to write instead.
WITH_A_HINT = {
    *("DCVS-1", "DCVS-2", "DCVS-4", "HMX-3", "HMX-8", "RPC-1", "RPC-2", "TMR-1", "DDR-1", "SUS-2"),
    *("EXT-1", "FILE-1", "FILE-2", "FILE-3", "KEY-1", "KEY-2", "NAME-1", "YAML-2", "YAML-3", "YAML-5"),
}

# What the hint of the first problem names.
HINTS = {
    "bool-for-lowering.yaml": "write one of foreground, background",
    "corner-in-small-letters.yaml": "TURBO",
    "extends-unknown.yaml": "burst",
    "hmx-legacy-corner.yaml": "TUR",
    "key-on.yaml": "quote",
    "missing-in-votes.yaml": "ddr_perf_mode: unset",
    "misspelt-extends.yaml": "did you mean extends?",
    "misspelt-key-dcvs.yaml": "did you mean sleep_latency_us?",
    "misspelt-key-top.yaml": "did you mean summary?",
    "misspelt-key-votes.yaml": "did you mean rpc_polling_time_us?",
    "misspelt-lowering.yaml": "did you mean background?",
    "relax-to-misspelt.yaml": "relaxed",
    "relax-to-refused-state.yaml": "10 to 65535",
    "sleep-latency-9.yaml": "10 to 65535",
    "unknown-power-mode.yaml": "PERFORMANCE",
    "unset-lowering.yaml": "one of foreground, background",
    "yaml11-no.yaml": "false",
    "yaml11-yes.yaml": "true",
}

# What the hint of the first problem must not propose, since it would be refused in its turn.
BAD_ADVICE = {"null-tilde.yaml": "unset", "key-on.yaml": "true", "key-y.yaml": "true"}


def read_expected() -> dict[str, list[dict[str, str]]]:
    """Return the rows of expected.csv, by file."""
    with (MALFORMED / "expected.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    return {name: list(group) for name, group in itertools.groupby(rows, key=lambda row: row["file"])}


EXPECTED = read_expected()
each_file = pytest.mark.parametrize("name", sorted(EXPECTED))


def refusal(path: Path) -> ProfileError:
    """Return the error that loading the file raises."""
    with pytest.raises(ProfileError) as caught:
        load_profile(path)
    return caught.value


def expected_problems(name: str) -> list[tuple[str, int, int]]:
    """Return rule, line and column of every expected problem of a file."""
    return [(row["rule"], int(row["line"]), int(row["column"])) for row in EXPECTED[name]]


def found_problems(error: ProfileError) -> list[tuple[str, int, int]]:
    """Return rule, line and column of every problem of an error."""
    return [(problem.rule, problem.line, problem.column) for problem in error.problems]


def test_every_malformed_file_has_its_expectation_and_the_other_way_round() -> None:
    """The folder and expected.csv name the same files, at least 60 of them, each once."""
    with (MALFORMED / "expected.csv").open(encoding="utf-8", newline="") as file:
        names = [row["file"] for row in csv.DictReader(file)]
    assert {path.name for path in MALFORMED.glob("*.yaml")} == set(names)
    assert len([name for name, _ in itertools.groupby(names)]) == len(set(names)) >= 60


@each_file
def test_a_malformed_file_is_refused_for_all_that_is_wrong_with_it(name: str) -> None:
    """The error has the expected class and, in order, the rule and the place of every mistake."""
    error = refusal(MALFORMED / name)
    assert found_problems(error) == expected_problems(name)
    assert type(error) is CLASSES[EXPECTED[name][0]["error"]]


@each_file
def test_the_parser_in_python_finds_the_same(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where PyYAML is built without libyaml, rules and places are the same."""
    monkeypatch.setattr(strict_yaml, "_Loader", yaml.SafeLoader)
    assert found_problems(refusal(MALFORMED / name)) == expected_problems(name)


@each_file
def test_a_problem_stands_in_the_file_where_the_mistake_is(name: str) -> None:
    """A problem is reported in the file that was loaded, or in the part where it is written; in no shipped one."""
    file = MALFORMED / IN_A_PART.get(name, name)
    paths = {Path(problem.path).resolve() for problem in refusal(MALFORMED / name).problems}
    assert paths == {file.resolve()}


@each_file
def test_a_problem_says_what_is_wrong_and_what_to_write(name: str) -> None:
    """Every problem has a message, is one line, and has a hint where its rule has a remedy."""
    for problem in refusal(MALFORMED / name).problems:
        assert problem.message
        assert str(problem).splitlines() == [str(problem)]
        assert str(problem).startswith(f"{problem.path}:{problem.line}:{problem.column}: {problem.rule}: ")
        assert problem.hint or problem.rule not in WITH_A_HINT


@each_file
def test_an_error_is_that_of_its_first_problem(name: str) -> None:
    """Path, line, column, rule and hint of the error are those of the first problem; its text has all."""
    error = refusal(MALFORMED / name)
    first = error.problems[0]
    assert (error.path, error.line, error.column) == (first.path, first.line, first.column)
    assert (error.rule, error.hint) == (first.rule, first.hint)
    assert str(error) == "\n".join(str(problem) for problem in error.problems)


@pytest.mark.parametrize("name", sorted(HINTS))
def test_a_hint_names_the_remedy(name: str) -> None:
    """The first hint names what was probably meant."""
    assert HINTS[name] in refusal(MALFORMED / name).hint


@pytest.mark.parametrize("name", sorted(BAD_ADVICE))
def test_a_hint_proposes_nothing_that_is_refused(name: str) -> None:
    """Following the hint of the first problem leads to no further problem."""
    assert BAD_ADVICE[name] not in refusal(MALFORMED / name).hint


def test_a_state_that_extends_nothing_is_not_called_missing() -> None:
    """The message names the missing state, not the one that was found and extends it."""
    assert "'relaxd'" in refusal(MALFORMED / "relax-to-state-that-extends-nothing.yaml").problems[0].message


def test_a_file_above_1_mib_is_refused_unread(tmp_path: Path) -> None:
    """A file of more than 1 MiB breaks FILE-2, whatever is in it; one of 1 MiB is read."""
    file = tmp_path / "large.yaml"
    shipped = (SHIPPED / "burst.yaml").read_bytes()
    file.write_bytes(shipped.ljust(1024 * 1024, b"\n"))
    assert load_profile(file).name == "burst"
    file.write_bytes(shipped.ljust(1024 * 1024 + 1, b"\n"))
    error = refusal(file)
    assert error.problems == (Problem(str(file), 0, 0, "FILE-2", "larger than 1 MiB", error.hint),)
    assert error.hint


@pytest.mark.parametrize("name", ["nowhere.yaml", "folder.yaml", "a" * 300 + ".yaml"])
def test_a_path_without_a_file_is_refused(name: str, tmp_path: Path) -> None:
    """A missing path, a folder and a name too long for a file break FILE-1, without a line."""
    (tmp_path / "folder.yaml").mkdir()
    error = refusal(tmp_path / name)
    assert (error.path, found_problems(error)) == (str(tmp_path / name), [("FILE-1", 0, 0)])
    assert error.hint


def test_a_folder_found_by_name_is_refused(tmp_path: Path) -> None:
    """A folder named like a profile breaks FILE-1 when it is looked up by name."""
    (tmp_path / "camera.yaml").mkdir()
    with pytest.raises(ProfileError) as caught:
        load_profile("camera", [tmp_path])
    assert found_problems(caught.value) == [("FILE-1", 0, 0)]


def test_an_unreadable_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that may not be read breaks FILE-1, and the message says why."""
    file = tmp_path / "camera.yaml"
    file.write_bytes((SHIPPED / "burst.yaml").read_bytes())

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    error = refusal(file)
    assert (error.path, found_problems(error)) == (str(file), [("FILE-1", 0, 0)])
    assert "Permission denied" in str(error)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    """A name that no folder has breaks NAME-1, and the hint names the nearest profile."""
    with pytest.raises(ProfileError) as caught:
        load_profile("sustained_high_perfomance")
    assert found_problems(caught.value) == [("NAME-1", 0, 0)]
    assert "sustained_high_performance" in caught.value.hint


@pytest.mark.parametrize("text", ["[", "{", "- ", "? ", "&a ", "!a ", "profile: [", "'", "x: *x\n", " "])
def test_a_hostile_file_of_1_mib_is_refused(text: str, tmp_path: Path) -> None:
    """Whatever is repeated up to the largest size is refused, without running out of stack."""
    file = tmp_path / "hostile.yaml"
    file.write_bytes(text.encode() * (strict_yaml.LARGEST_FILE_BYTES // len(text)))
    assert refusal(file).problems


def test_a_profile_at_the_end_of_a_very_long_chain_never_breaks_the_interpreter(tmp_path: Path) -> None:
    """A chain of 1000 files that extend each other loads or is refused, as any other file."""
    for number in range(1000):
        base = "burst" if number == 0 else f"./link{number - 1}.yaml"
        (tmp_path / f"link{number}.yaml").write_text(f"profile: link{number}\nextends: {base}\n")
    assert load_or_refuse(tmp_path / "link999.yaml")


def test_extending_a_link_to_itself_is_refused(tmp_path: Path) -> None:
    """A symbolic link that leads to itself is refused like a file that can't be read."""
    (tmp_path / "loop.yaml").symlink_to("loop.yaml")
    (tmp_path / "camera.yaml").write_text("profile: camera\nextends: loop\n")
    with pytest.raises(ProfileError):
        load_profile("camera", [tmp_path])


def load_or_refuse(path: Path) -> Profile | ProfileError:
    """Return the profile, or the ProfileError with which it is refused; anything else is raised."""
    try:
        return load_profile(path)
    except ProfileError as error:
        return error


def load_bytes(data: bytes) -> Profile | ProfileError:
    """Return what becomes of a file of these bytes."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "any.yaml")
        file.write_bytes(data)
        return load_or_refuse(file)


@settings(max_examples=300, deadline=None)
@given(st.binary(max_size=400))
def test_arbitrary_bytes_are_refused(data: bytes) -> None:
    """Bytes that nobody wrote as a profile raise ProfileError, and nothing else."""
    assert isinstance(load_bytes(data), ProfileError)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Draw the text of a shipped profile with up to four slices deleted, doubled or replaced."""
    data = (SHIPPED / f"{draw(st.sampled_from(profile_names()))}.yaml").read_bytes()
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = draw(st.integers(start, min(start + 40, len(data))))
        piece = data[start:end]
        words = st.sampled_from((b"*a", b"&a ", b"!!int ", b"<<", b"\t", b"[", b"}", b"on", b"-1", b"\n", b"extends"))
        data = data[:start] + draw(st.just(b"") | st.just(piece * 2) | words | st.binary(max_size=8)) + data[end:]
    return data


@settings(max_examples=300, deadline=None)
@given(mutated())
def test_a_mutated_profile_loads_or_is_refused(data: bytes) -> None:
    """A shipped profile with slices deleted, doubled or replaced loads or raises ProfileError, nothing else."""
    assert isinstance(load_bytes(data), (Profile, ProfileError))
