"""Settings read back: every generated text becomes the profile that its runtime votes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.runtime_settings import settings

from htppower import ProfileError, load_profile, profile_names
from htppower.profiles.loading import record_names
from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.tools.review.settings_check import findings_of
from htppower.tools.runtimes.catalogue import RUNTIMES
from htppower.tools.runtimes.reading import read, said, sniff

if TYPE_CHECKING:
    from pathlib import Path

    from htppower import Profile
    from htppower.profiles.yaml_text import ProfileFiles

GENAI = """{
  "model": {
    "decoder": {
      "pipeline": [
        {"embeddings": {"session_options": {"provider_options": [{"qnn": {"htp_performance_mode": "balanced"}}]}}},
        {"prefill": {"session_options": {"provider_options": [
          {"cuda": {"htp_performance_mode": "burst"}},
          {"QNN": {"htp_performance_mode": "Burst", "rpc_control_latency": "80"}}]}}}
      ]
    }
  }
}
"""


def loaded(found: ProfileFiles, folder: Path) -> Profile:
    """Return the imported profile, loaded from its files."""
    (folder / "states").mkdir(exist_ok=True)
    for path, text in found.texts().items():
        (folder / path).write_text(text, encoding="utf-8")
    return load_profile(folder / f"{found.name}.yaml")


@pytest.mark.parametrize("mode", LLM_DECODE_PROFILES)
@pytest.mark.parametrize("text", ['{"performance": {"policy": "MODE"}}', "qnn-net-run --perf_profile MODE"])
def test_a_mode_of_decode_is_the_shipped_profile(text: str, mode: str, tmp_path: Path) -> None:
    """A decode mode has no record, so it becomes the shipped profile with its votes."""
    (found,) = read(text.replace("MODE", mode), "mine.txt")
    assert loaded(found, tmp_path).votes == load_profile(mode).votes


def test_an_enumerator_of_litert_by_the_name_of_its_enumeration(tmp_path: Path) -> None:
    """ai-edge-litert exports both names."""
    (found,) = read("from q import QualcommHtpPerformanceMode\nmode = QualcommHtpPerformanceMode.BURST\n", "host.py")
    assert loaded(found, tmp_path).votes == load_profile("litert:burst").votes


def test_a_number_in_genai_is_refused() -> None:
    """onnxruntime-genai accepts only texts, so the file is refused."""
    text = GENAI.replace('"80"', "80")
    with pytest.raises(ProfileError, match="SET-6: rpc_control_latency is 80 without quotes"):
        read(text, "genai_config.json")


def test_custom_votes_stand_elsewhere() -> None:
    """It is a mode that the tools know, and no profile."""
    with pytest.raises(ProfileError, match=r"^mine\.sh:1:28: KEY-2: .* are in an extension file"):
        read("qnn-net-run --perf_profile custom", "mine.sh")


@pytest.mark.parametrize(
    "name", [name for name in record_names() if name.partition(":")[0] in ("onnxruntime", "litert")]
)
def test_a_record_is_read_back_as_itself(name: str, tmp_path: Path) -> None:
    """In options, flags and TOML, each mode is read back as the runtime's votes in it."""
    record = load_profile(name)
    runtime, _, mode = name.partition(":")
    parts = settings(record, runtime).parts
    for part in parts[:1] if runtime == "onnxruntime" else parts:
        reader = sniff(part.text, part.file or "options")
        assert reader is not None
        (found,) = reader(part.text, part.file or "options")
        again = loaded(found, tmp_path)
        assert again.votes == record.votes
        assert (again.relax and again.relax.to.votes) == (record.relax and record.relax.to.votes)
        assert again.lineage[1:] == (mode,)


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", profile_names())
def test_the_check_finds_nothing_in_what_is_made(runtime: str, name: str) -> None:
    """No generated text breaks a rule; only the named extension file is another text (SET-10)."""
    spoken = ("SET-10", "SET-11")
    for part in settings(load_profile(name), runtime).parts:
        found = said(part.text, part.file or "options")
        assert [each.rule for each in findings_of(found, part.file) if each.rule not in spoken] == []
        assert found.problems == ()


FILES = {"python": "host.py", "kotlin": "Host.kt", "java": "Host.java", "cpp": "host.cc", "csharp": "Host.cs"}
# For each runtime: the index of the text with the same settings as the code, and the languages of the code.
LANGUAGES = {
    "onnxruntime": (0, ("python", "kotlin", "java", "cpp", "csharp")),
    "genai": (0, ("python", "kotlin", "java", "cpp", "csharp")),
    "litert": (2, ("kotlin", "cpp")),
    "tflite": (0, ("kotlin", "java", "cpp")),
}


@pytest.mark.parametrize(
    ("runtime", "language"), [(runtime, each) for runtime, (_, known) in LANGUAGES.items() for each in known]
)
@pytest.mark.parametrize(
    "name", ["burst", "balanced", "extreme_power_saver", "system_settings", "litert-auto:balanced"]
)
def test_every_language_is_read_back_with_the_same_votes(
    runtime: str, language: str, name: str, tmp_path: Path
) -> None:
    """Settings in a host's language have no finding, and become the same profile as their JSON."""
    made = settings(load_profile(name), runtime)
    of, languages = LANGUAGES[runtime]
    assert {part.language for part in made.in_code} == set(languages)
    (first, *_) = read(made.parts[of].text, made.parts[of].file or "options")
    expected = loaded(first, tmp_path)
    part, *of_run = [each for each in made.in_code if each.language == language]
    text = "\n".join(each.text for each in (part, *of_run))
    assert list(findings_of(said(text, FILES[language]), "")) == []
    found, *runs = read(text, FILES[language])
    again = loaded(found, tmp_path)
    assert again.votes == expected.votes
    assert again.lineage[1:] == expected.lineage[1:]
    assert len(runs) == len(of_run)
    for run in runs:
        (in_json,) = read(made.parts[1].text, "options")
        assert loaded(run, tmp_path).votes == loaded(in_json, tmp_path).votes


@pytest.mark.parametrize("name", [name for name in profile_names() if name != "system_settings"])
def test_a_perf_config_of_snpe_is_read_back(name: str, tmp_path: Path) -> None:
    """Clocks, modes, latencies, polling and times are read back, on both sides."""
    profile = load_profile(name)
    (found,) = read(settings(profile, "snpe").parts[0].text, "perf_config.yaml")
    again = loaded(found, tmp_path)
    assert profile.relax is not None
    assert again.relax is not None
    assert again.votes.dcvs_v3 == profile.votes.dcvs_v3
    assert again.votes.rpc_polling_time_us == profile.votes.rpc_polling_time_us
    assert again.relax.to.votes.dcvs_v3 == profile.relax.to.votes.dcvs_v3
    assert again.relax.after_deinit_to.votes.dcvs_v3 == profile.relax.after_deinit_to.votes.dcvs_v3
    assert again.relax.after_inference_us == profile.relax.after_inference_us
    assert settings(again, "snpe").parts[0].text == settings(profile, "snpe").parts[0].text


def test_every_model_of_a_pipeline_is_a_profile(tmp_path: Path) -> None:
    """Each model with the QNN provider becomes a profile with its name, in either letter case."""
    one, other = read(GENAI, "genai_config.json")
    assert (one.name, other.name) == ("embeddings", "prefill")
    assert str(other.place) == "genai_config.json:8:44"
    prefill = loaded(other, tmp_path)
    assert prefill.votes.rpc_control_latency_us == 80
    assert prefill.votes.hvx == load_profile("onnxruntime:burst").votes.hvx


def test_a_run_and_what_follows_it_are_a_profile_and_a_state(tmp_path: Path) -> None:
    """The mode after a run becomes the profile's power state; two runs in one file get two names."""
    text = 'r.add_run_config_entry("qnn.htp_perf_mode", "burst")'
    run = f'{text}; r.add_run_config_entry("qnn.htp_perf_mode_post_run", "power_saver")'
    one, other = read(f"{run}\n{run.replace('burst', 'balanced')}\n", "host.py")
    assert (one.name, other.name) == ("host", "host_2")
    for found, mode in ((one, "burst"), (other, "balanced")):
        profile = loaded(found, tmp_path)
        assert profile.votes.hvx == load_profile(f"onnxruntime:{mode}").votes.hvx
        assert profile.relax is not None
        assert profile.relax.to.votes == load_profile("onnxruntime:power_saver").votes


@pytest.mark.parametrize(
    "text",
    [
        'x={\n  "htp_performance_mode": "burst",  # isn\'t (\n  "a": {"b": "}"},\n  "rpc_control_latency": "80",\n}\n',
        'o["htp_performance_mode"] = "burst"\nother["x"] = 1\no["rpc_control_latency"] = "80"\n',
        'map o = {{"htp_performance_mode", "burst"},\n  {"rpc_control_latency", "80"}};\n',
        'o = [("htp_performance_mode", "burst"),\n  ("rpc_control_latency", "80")]\n',
    ],
)
def test_options_over_several_lines_are_one_profile(text: str, tmp_path: Path) -> None:
    """The options in one literal, or for one object, are one profile; another literal is another profile."""
    one, other = read(f'{text}y = {{\n"htp_performance_mode": "balanced"}}\n', "host.py")
    assert loaded(one, tmp_path).votes.rpc_control_latency_us == 80
    assert "votes:" not in other.text


def test_runs_over_several_lines_are_lowered_as_they_say(tmp_path: Path) -> None:
    """Calls on one object are one run, until a key is repeated or another function begins."""
    add = 'run.add_run_config_entry("qnn.{}", "{}")'
    before, after = "htp_perf_mode", "htp_perf_mode_post_run"
    one = [add.format(before, "burst"), add.format(after, "power_saver"), add.format("rpc_control_latency", "80")]
    two = [add.format(before, "balanced"), add.format(after, "low_balanced")]
    alone = ["def run():", add.format(before, "balanced"), "def lower():", add.format(after, "power_saver")]
    found = [loaded(each, tmp_path) for each in read("\n".join((*one, *two, *alone)), "host.py")]
    held = load_profile("onnxruntime:balanced").relax
    assert [each.relax and each.relax.to.votes for each in found] == [
        load_profile("onnxruntime:power_saver").votes,
        load_profile("onnxruntime:low_balanced").votes,
        held and held.to.votes,
    ]
    assert [each.votes.rpc_control_latency_us for each in found] == [80, None, None]


def test_the_text_of_all_settings_is_read_back_whole(tmp_path: Path) -> None:
    """The printed text, with its sentences, keeps the latency and the mode after a run."""
    parts = settings(load_profile("low_balanced"), "onnxruntime").parts
    text = "".join(f"{part.where}\n{part.text}\n{part.note}\n" for part in parts)
    held, run = (loaded(each, tmp_path) for each in read(text, "full.txt"))
    assert held.votes.rpc_control_latency_us == run.votes.rpc_control_latency_us == 100
    assert run.relax is not None
    assert run.relax.to.votes == load_profile("onnxruntime:power_saver").votes


@pytest.mark.parametrize(
    ("text", "record"),
    [
        ("--tflite_options qnn_htp_performance_mode=kHtpHighPerformance", "litert:high_performance"),
        ('--options "--qnn_options context_htp_performance_mode=LOW_BALANCED;x=y"', "vendor:low_balanced"),
        ("QNNExternalDelegate,backend_type=htp,htp_performance_mode=(string)6;", "litert:high_power_saver"),
        (
            '--external_delegate_options="backend_type:htp;htp_performance_mode:2;htp_perf_ctrl_strategy:1"',
            "litert-auto:burst",
        ),
        ("qnn_executor_runner --htp_performance_mode 8", "executorch:balanced"),
        ("options.set_option(QNN_RUNTIME_HTP_PERFORMANCE_MODE, 3);", "executorch:high_performance"),
        ('onnxruntime_perf_test -i "backend_path|x htp_performance_mode|burst"', "onnxruntime:burst"),
        ('{"performance": {"policy": "burst"}}', "vendor:burst"),
        ('providers=[("QNNExecutionProvider", {"htp_performance_mode": "balanced"})]', "onnxruntime:balanced"),
    ],
)
def test_one_setting_in_any_text(text: str, record: str, tmp_path: Path) -> None:
    """A flag, an option of a delegate, or a literal in code becomes what its runtime votes."""
    (found,) = read(text, "a.txt")
    assert loaded(found, tmp_path).votes.hvx == load_profile(record).votes.hvx
    assert f"extends: {record}\n" in found.text


@pytest.mark.parametrize("path", ["69.json", "no.json", "a: b #c.json", "x\nvotes: unset\ny: .json", "burst.json"])
@pytest.mark.parametrize("of", ["runs", "perf config"])
def test_any_name_of_a_file_gives_profiles_that_load(path: str, of: str, tmp_path: Path) -> None:
    """The profile's name is a word in YAML, differs from the shipped names, and begins no line or comment."""
    text = '{"qnn.htp_perf_mode": "burst", "qnn.htp_perf_mode_post_run": "balanced"}'
    if of == "perf config":
        text = settings(load_profile("balanced"), "snpe").parts[0].text
    (found,) = read(text, path)
    assert found.name not in profile_names()
    for each in found.texts().values():
        assert "votes: unset\ny" not in each
    assert loaded(found, tmp_path).name == found.name


@pytest.mark.parametrize(
    "text",
    ["", "{}", "[1]", "no settings\n", '{"devices": [{"cores": [{"rpc_control_latency": 100}]}]}', "profile: burst\n"],
)
def test_what_is_no_setting_is_left_to_others(text: str) -> None:
    """No reader takes such a text; an extension file has another reader."""
    assert sniff(text, "file.json") is None


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{\n  "htp_performance_mode": "turbo"\n}', "2:27"),
        ('{\n"htp_performance_mode": "burst", "rpc_control_latency": "4294967296"}', "2:57"),
        (f'{{\n"htp_performance_mode": "burst", "rpc_control_latency": "{"9" * 5000}"}}', "2:57"),
        ("general:\n  DSP_HYSTERESIS_TIME: 3\nexecute:\n  BUS_VOLTAGE_CORNER_MIN_START: x\n", "2:3"),
    ],
)
def test_what_is_wrong_is_an_error_with_its_place(text: str, where: str) -> None:
    """An unknown mode, a wrong time of any length, or a field that SNPE lacks is an error with its place."""
    with pytest.raises(ProfileError) as caught:
        read(text, "a.txt")
    assert f"a.txt:{where}: SET-" in str(caught.value)


def test_what_follows_no_run_is_no_profile() -> None:
    """It was read as no profile at all, and import made nothing without a word."""
    with pytest.raises(ProfileError, match=r"a\.json:2:31: KEY-2: .*without a mode for the runs"):
        read('{\n"qnn.htp_perf_mode_post_run": "burst"}', "a.json")


@given(
    st.text(max_size=200)
    | st.lists(
        st.sampled_from(
            [
                *(
                    '{"',
                    '":',
                    "}",
                    "[",
                    "]",
                    '"qnn.htp_perf_mode"',
                    '"htp_performance_mode"',
                    ": ",
                    ", ",
                    '"burst"',
                    "2",
                ),
                *("--qnn_options ", "context_htp_performance_mode=", "BURST", "custom_setting {", 'id: "perf_profile"'),
                *(
                    "general:\n",
                    "  DSP_HYSTERESIS_TIME_US: ",
                    "execute:\n",
                    "\n",
                    "  BUS_VOLTAGE_CORNER_MIN_START: ",
                    "é",
                ),
                *('"model"', '"dialog"', '"engine"', '"backend"', '"QnnHtp"', "null", "true", "\t", "\\", "\0"),
            ]
        ),
        max_size=30,
    ).map("".join),
    st.sampled_from(["a.json", "a.yaml", "a.py", "genai_config.json", ""]),
)
def test_no_text_breaks_a_reader(text: str, name: str) -> None:
    """Any text is read, or refused with a place, and every finding lies in the text."""
    found = said(text, name)
    lines = text.split("\n")
    for finding in (*found.problems, *findings_of(found, name)):
        assert finding.place is not None
        assert finding.line <= len(text.splitlines()) + 1
    for statement in found.statements:
        line = lines[statement.key_place.line - 1]
        assert line[statement.key_place.column - 1 :].lstrip("\"'").startswith(statement.key[:1])
    with contextlib.suppress(ProfileError):
        read(text, name)
