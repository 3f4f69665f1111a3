"""Profiles as settings of runtimes: the nearest mode, the losses, and the texts to paste."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.bench import explicit_hmx, voting
from support.runtime_settings import settings

from htppower import Lowering, Profile, load_profile, profile_names
from htppower.profiles.loading import record_names
from htppower.profiles.names import LLM_DECODE_PROFILES
from htppower.profiles.profile import Then
from htppower.profiles.sustain import Adaptive
from htppower.tools.runtimes.catalogue import RUNTIMES
from htppower.tools.runtimes.settings import LANGUAGES
from htppower.votes.clock_votes import VoltageRange
from htppower.votes.corners import ClkPerfMode, ExpandedCorner, PowerMode, VoltageCorner

if TYPE_CHECKING:
    from pathlib import Path

    from support.command import Command

# How each runtime spells the mode of its own record, for every runtime with records.
SPELT = {
    "onnxruntime": ("onnxruntime", '"htp_performance_mode": "{mode}"'),
    "genai": ("onnxruntime", '"htp_performance_mode": "{mode}"'),
    "litert": ("litert", "--qualcomm_htp_performance_mode={mode} --qualcomm_htp_perf_ctrl_mode=manual"),
    "genie": ("vendor", '"perf_profile": "{mode}"'),
}
LOWERED = ["relax.to", "relax.after_init_us", "relax.after_inference_us", "relax.lowering", "relax.after_deinit_to"]


def lost(profile: Profile, runtime: str) -> dict[str, tuple[str, str]]:
    """Return the losses of a profile in a runtime: the profile's value, and what is done instead."""
    return {".".join(each.field): (each.says, each.instead) for each in settings(profile, runtime).lost}


@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("name", profile_names())
def test_every_profile_for_every_runtime(runtime: str, name: str) -> None:
    """There is a text to paste, valid JSON, and a sentence about what is known."""
    made = settings(load_profile(name), runtime)
    assert made.parts[0].text
    assert made.known.endswith(".")
    for part in made.parts:
        assert not part.text.endswith("\n")
        if part.language == "json":
            json.loads(part.text)


@pytest.mark.parametrize("runtime", SPELT)
def test_a_record_is_expressed_by_its_own_mode(runtime: str) -> None:
    """The record of a mode becomes that mode, and no vote is lost."""
    of, spelt = SPELT[runtime]
    for name in record_names():
        if name.startswith(f"{of}:"):
            made = settings(load_profile(name), runtime)
            assert spelt.format(mode=name.partition(":")[2]) in made.parts[0].text, name
            assert [".".join(each.field) for each in made.lost if each.field[0] != "relax"] == [], name


@pytest.mark.parametrize("mode", ["burst", "balanced", "power_saver", "extreme_power_saver"])
def test_what_is_lowered_is_not_held(mode: str) -> None:
    """A profile that lowers gets LiteRT's automatic control, a profile that holds gets its manual control."""
    assert "perf_ctrl_mode=auto" in settings(load_profile(mode), "litert").parts[0].text
    assert "perf_ctrl_mode=manual" in settings(load_profile(f"litert:{mode}"), "litert").parts[0].text
    assert settings(load_profile(f"litert-auto:{mode}"), "litert").lost == ()


def test_a_run_is_lowered_by_its_own_options() -> None:
    """ONNX Runtime holds; its run options lower to the mode nearest to the power state."""
    held, per_run = settings(load_profile("balanced"), "onnxruntime").parts
    assert json.loads(held.text) == {"htp_performance_mode": "balanced", "rpc_control_latency": "100"}
    assert json.loads(per_run.text) == {
        "qnn.htp_perf_mode": "balanced",
        "qnn.htp_perf_mode_post_run": "power_saver",
        "qnn.rpc_control_latency": "100",
    }
    assert "htp_performance_mode=default" in per_run.note
    assert [name for name in lost(load_profile("balanced"), "onnxruntime") if name.startswith("relax")] == LOWERED
    assert len(settings(load_profile("system_settings"), "onnxruntime").parts) == 1


def test_executorch_has_no_extreme_power_saver() -> None:
    """The nearest mode has no votes, and the loss of the core vote is listed."""
    extreme = load_profile("extreme_power_saver")
    assert "kHtpDefault" in settings(extreme, "executorch").parts[0].text
    assert lost(extreme, "executorch")["votes.dcvs_v3.core"] == ("DISABLE", "no vote")


def test_genie_has_keys_for_what_stands_beside_the_profile() -> None:
    """Latency, polling, adaptive polling, HMX timeout and DDR have keys of their own, so they are not lost."""
    profile = voting(rpc_control_latency_us=250, rpc_polling_time_us=500, adaptive_polling_time_us=2000)
    profile = attrs.evolve(profile, votes=attrs.evolve(profile.votes, hmx_timeout_us=1000, ddr_perf_mode=True))
    named = next(part for part in settings(profile, "genie").parts if part.where == "extension file, by name")
    (core,) = json.loads(named.text)["devices"][0]["cores"]
    assert core == {
        "core_id": 0,
        "perf_profile": "burst",
        "rpc_control_latency": 250,
        "rpc_polling_time": 500,
        "adaptive_polling_time": 2000,
        "hmx_timeout_us": 1000,
        "ddr_perf_mode": True,
    }
    assert not [name for name in lost(profile, "genie") if name.startswith("votes.")]


def genie_texts(profile: Profile) -> tuple[dict[str, Any], str]:
    """Return the core of the extension file as set by name, and the policy."""
    texts = {part.where: part.text for part in settings(profile, "genie").parts}
    (core,) = json.loads(texts["extension file, by name"])["devices"][0]["cores"]
    return core, json.loads(texts["policy of the API"])["performance"]["policy"]


@pytest.mark.parametrize("name", LLM_DECODE_PROFILES)
def test_genie_has_names_for_decode(name: str) -> None:
    """Each decode profile is set by its name, even if others vote the same, and nothing is lost."""
    profile = load_profile(name)
    core, policy = genie_texts(profile)
    assert (core["perf_profile"], policy) == (name, name)
    assert "ddr_perf_mode" not in core
    made = settings(profile, "genie")
    assert made.parts[0].where == "extension file, by name"
    assert "QAIRT 2.48" in made.parts[0].note
    assert ("Below Hexagon V81 delete ddr_perf_mode" in made.parts[1].note) is (name == "llm_decode_burst")
    assert made.lost == ()


def test_a_profile_of_the_lineage_alone_has_no_name_for_decode() -> None:
    """A changed vote with its own key keeps the name; other clocks, or a removed DDR vote, do not."""
    burst = load_profile("llm_decode_burst")
    core, _ = genie_texts(attrs.evolve(burst, votes=attrs.evolve(burst.votes, rpc_control_latency_us=250)))
    assert (core["perf_profile"], core["rpc_control_latency"]) == ("llm_decode_burst", 250)
    for votes in (
        attrs.evolve(burst.votes, ddr_perf_mode=None),
        attrs.evolve(burst.votes, hmx_v2=explicit_hmx(ExpandedCorner.NOM)),
    ):
        core, policy = genie_texts(attrs.evolve(burst, votes=votes))
        assert not core["perf_profile"].startswith("llm_decode")
        assert policy == core["perf_profile"]


def test_what_is_expressed_in_full_is_said_of_one_text(command: Command) -> None:
    """If there are several texts, the first one is named."""
    told = " ".join(command.output("settings", "burst", "--for", "genie").split())
    assert "The first text (extension file, vote by vote) expresses all of the profile." in told


def test_snpe_says_nearly_all() -> None:
    """Corners, times, modes, HMX and any sustain time are fields; the rest is listed."""
    burst = load_profile("burst")
    assert burst.relax is not None
    assert burst.votes.dcvs_v3 is not None
    relax = attrs.evolve(burst.relax, after_inference_us=120_000, after_init_us=5_000_000, lowering=Lowering.BACKGROUND)
    dcvs = attrs.evolve(
        burst.votes.dcvs_v3,
        sleep_disable=True,
        core=VoltageRange(VoltageCorner.SVS, VoltageCorner.NOM, VoltageCorner.TURBO),
        power_mode=PowerMode.DUTY_CYCLE,
    )
    votes = attrs.evolve(burst.votes, dcvs_v3=dcvs, hmx_v2=explicit_hmx(ExpandedCorner.NOM_L1), hmx_timeout_us=500)
    profile = attrs.evolve(burst, votes=votes, relax=relax)
    text = settings(profile, "snpe").parts[0].text
    for line in (
        "DSP_HYSTERESIS_TIME_US: 120000",
        "ASYNC_VOTING_ENABLE: true",
        "CORE_VOLTAGE_CORNER_TARGET_START: SNPE_DCVS_VOLTAGE_VCORNER_NOM",
        "POWERMODE_START: SNPE_DSP_PERF_INFRASTRUCTURE_POWERMODE_DUTY_CYCLE_MODE",
        "DSP_HMX_VOLTAGE_CORNER_MAX: SNPE_DCVS_EXP_VCORNER_NOM_L1",
        "DSP_HMX_CLOCK_PERF_MODE: SNPE_HMX_CLK_PERF_HIGH",
    ):
        assert line in text
    assert set(lost(profile, "snpe")) == {
        *("votes.dcvs_v3.sleep_disable", "votes.rpc_control_latency_us", "votes.hmx_timeout_us"),
        *("lowered.hmx_v2", "lowered.rpc_polling_time_us", "relax.after_init_us"),
        *("after_deinit.hmx_v2", "after_deinit.rpc_polling_time_us"),
    }


def test_snpe_has_not_every_hmx_corner() -> None:
    """An HMX corner without a name in SNPE is left out and listed."""
    profile = voting(hmx_v2=attrs.evolve(explicit_hmx(ExpandedCorner.NOM), perf_mode=ClkPerfMode.HIGH_D3))
    assert "HMX" not in settings(profile, "snpe").parts[0].text
    assert "votes.hmx_v2" in lost(profile, "snpe")


def test_mlperf_overrides_its_preset() -> None:
    """One corner for a clock, latencies and HMX are set; the core after a run is not, since the app ignores it."""
    profile = voting(hmx_v2=explicit_hmx(ExpandedCorner.NOM))
    dcvs = profile.votes.dcvs_v3
    assert dcvs is not None
    dcvs = attrs.evolve(dcvs, bus=VoltageRange.at(VoltageCorner.NOM), sleep_latency_us=70)
    text = settings(attrs.evolve(profile, votes=attrs.evolve(profile.votes, dcvs_v3=dcvs)), "mlperf").parts[0].text
    for name, value in {
        "perf_profile": "burst",
        "bus_voltage_start": "SNPE_DCVS_VOLTAGE_VCORNER_NOM",
        "dsp_start_sleep_latency": "70",
        "hmx_voltage": "SNPE_DCVS_EXP_VCORNER_NOM",
    }.items():
        assert f'id: "{name}"\n  value: "{value}"' in text
    extreme = settings(load_profile("extreme_power_saver"), "mlperf").parts[0].text
    assert 'value: "low_power_saver"' in extreme
    assert 'id: "core_voltage_start"\n  value: "SNPE_DCVS_VOLTAGE_CORNER_DISABLE"' in extreme
    assert "lowered.dcvs_v3.core" in lost(load_profile("extreme_power_saver"), "mlperf")


def test_ai_hub_always_votes() -> None:
    """AI Hub has no mode without votes, so the mode with the lowest votes is chosen, spelt as each option wants."""
    made = settings(load_profile("system_settings"), "aihub")
    assert [part.text for part in made.parts] == [
        "--qnn_options context_htp_performance_mode=EXTREME_POWER_SAVER",
        "--onnx_options qnn_htp_performance_mode=extreme_power_saver",
        "--tflite_options qnn_htp_performance_mode=kHtpLowPowerSaver",
    ]
    assert made.lost


def test_the_command_prints_writes_and_refuses(command: Command, tmp_path: Path) -> None:
    """Text, JSON, or a file with the first part; a known profile and a known runtime are required."""
    told = command.output("settings", "burst", "--for", "genai")
    assert "genai_config.json" in told
    assert "relax.to: relaxed_up_down; the runtime does: votes stay up" in told
    made = json.loads(command.output("settings", "burst", "--for", "litert", "--format", "json"))
    assert (made["format_version"], made["profile"], made["runtime"]) == (1, "burst", "litert")
    assert {each["field"] for each in made["lost"]} >= {"votes.rpc_control_latency_us"}
    file, whole = tmp_path / "genai_config.json", tmp_path / "all.json"
    command.output("settings", "burst", "--for", "genai", "-o", str(file), "--output", f"json={whole}")
    assert json.loads(file.read_text(encoding="utf-8"))["model"]["decoder"]
    assert json.loads(whole.read_text(encoding="utf-8"))["runtime"] == "genai"
    for arguments in (
        ("settings", "burst"),
        ("settings", "--for", "genai"),
        ("settings", "burst", "balanced", "--for", "genai"),
        ("settings", "burst", "--for", "nobody"),
        ("settings", "brust", "--for", "genai"),
        ("settings", "burst", "--for", "genai", "--strict"),
        ("settings", "burst", "--for", "genai", "--format", "sarif"),
        ("settings", "--check", str(file), "--for", "genai"),
        ("settings", "--check", str(file), "--language", "cpp"),
        ("settings", "burst", "--for", "genie", "--language", "kotlin"),
    ):
        assert command.run(*arguments).exit_code == 2, arguments


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_only_one_language_is_made(command: Command, runtime: str) -> None:
    """Each language of the runtime can be printed alone; another language is an error."""
    languages = settings(load_profile("burst"), runtime).languages
    assert languages
    for language in LANGUAGES:
        call = ("settings", "burst", "--for", runtime, "--language", language)
        if language in languages:
            made = json.loads(command.output(*call, "--format", "json"))
            assert {each["language"] for each in made["settings"]} == {language}
        else:
            assert f"name one of its languages: {', '.join(languages)}" in command.run(*call).stderr


def test_what_a_language_can_not_say_is_told(command: Command) -> None:
    """LiteRT has no automatic control in Kotlin, so votes that would be lowered are held."""
    call = ("settings", "litert-auto:balanced", "--for", "litert", "--format", "json")
    assert json.loads(command.output(*call))["lost"] == []
    fields = {each["field"] for each in json.loads(command.output(*call, "--language", "kotlin"))["lost"]}
    assert set(LOWERED) <= fields


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_what_only_we_do_is_lost_in_every_runtime(runtime: str) -> None:
    """A learnt time, a second power state and a raise ahead are listed as lost; SNPE gets the first time-out."""
    profile = load_profile("burst")
    assert profile.relax is not None
    then = Then(profile.relax.after_deinit_to, 2_000_000)
    relax = attrs.evolve(
        profile.relax, after_inference_us=Adaptive(break_even_us=100_000), then=then, raise_ahead_us=5000
    )
    made = settings(attrs.evolve(profile, relax=relax), runtime)
    told = {".".join(each.field[:2]) for each in made.lost}
    assert {"relax.after_inference_us", "relax.then", "relax.raise_ahead_us"} <= told
    if runtime == "snpe":
        assert "DSP_HYSTERESIS_TIME_US: 100000" in made.parts[0].text
