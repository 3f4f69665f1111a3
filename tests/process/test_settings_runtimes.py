"""Settings on real runtimes: generated settings are accepted, and settings that the check refuses are refused."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from support.runtime_settings import settings

from htppower import load_profile, profile_names
from htppower.tools.review.settings_check import check
from htppower.tools.runtimes.litert import NUMBERS

GENAI = "genai_config.json"
SPINNING = "session.intra_op.allow_spinning"


def found(path: Path) -> list[str]:
    """Return the rules that the check finds broken in a file."""
    return [finding.rule for finding in check([str(path)]).report.findings]


def genai(provider: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration of onnxruntime-genai."""
    options = {"provider_options": [{"qnn": provider}]}
    decoder = {"filename": "model.onnx", "session_options": options}
    return {"model": {"type": "phi3", "vocab_size": 32, "context_length": 16, "decoder": decoder}, "search": {}}


@pytest.mark.parametrize("name", profile_names())
def test_genai_takes_what_is_made(name: str, tmp_path: Path) -> None:
    """The provider options of each profile are at the place where onnxruntime-genai reads them."""
    og = pytest.importorskip("onnxruntime_genai")
    made = json.loads(settings(load_profile(name), "genai").parts[0].text)
    (options,) = made["model"]["decoder"]["session_options"]["provider_options"]
    file = tmp_path / GENAI
    file.write_text(json.dumps(genai(options["qnn"])), encoding="utf-8")
    og.Config(str(tmp_path))
    assert found(file) == []


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (json.dumps(genai({"htp_performance_mode": 2})), "SET-6"),
        (json.dumps(genai({"htp_performance_mode": True})), "SET-6"),
        (json.dumps(genai({"rpc_control_latency": 100})), "SET-6"),
        (json.dumps(genai({"soc_model": 60})), "SET-6"),
        (json.dumps(genai({"soc_model": "60", "enable_htp_fp16_precision": None})), "SET-6"),
        (json.dumps(genai({"backend_path": ["QnnHtp.dll"]})), "SET-6"),
        (json.dumps(genai({})).replace('"session_options"', '"run_options": {"x": 1}, "session_options"'), "SET-6"),
        (json.dumps(genai({})).replace('"provider_options"', f'"{SPINNING}": 0, "provider_options"'), "SET-6"),
        (json.dumps(genai({})).replace('"provider_options"', f'"{SPINNING}": "0", "provider_options"'), ""),
        (json.dumps(genai({"soc_model": "60"})), ""),
        (json.dumps(genai({})).replace("}}", "},}", 1), "SET-13"),
        (json.dumps(genai({}))[:-1] + "// no comments\n}", "SET-13"),
        (json.dumps(genai({"htp_performance_mode": "BURST"})), ""),
    ],
)
def test_genai_refuses_what_the_check_finds(text: str, rule: str, tmp_path: Path) -> None:
    """Numbers and true in place of texts, commas and comments are refused; a mode counts in either case."""
    og = pytest.importorskip("onnxruntime_genai")
    file = tmp_path / GENAI
    file.write_text(text, encoding="utf-8")
    if rule:
        with pytest.raises(RuntimeError):
            og.Config(str(tmp_path))
        assert rule in found(file)
    else:
        og.Config(str(tmp_path))
        assert found(file) == []


def flags_taken(*flags: str) -> bool:
    """Return whether LiteRT's own program accepts flags."""
    package = pytest.importorskip("ai_edge_litert")
    program = Path(package.__file__).parent / "tools" / "apply_plugin_main"
    if not program.is_file():
        pytest.skip("ai-edge-litert has no apply_plugin_main")
    done = subprocess.run([str(program), *flags, "--cmd=noop"], capture_output=True, text=True, check=False, timeout=60)
    said = done.stdout + done.stderr
    assert "Unknown command line flag" not in said
    return "Illegal value" not in said


@pytest.mark.parametrize("name", ["burst", "balanced", "extreme_power_saver", "system_settings"])
def test_litert_takes_what_is_made(name: str, tmp_path: Path) -> None:
    """LiteRT's programs accept the flags of a profile."""
    flags = settings(load_profile(name), "litert").parts[0].text
    assert flags_taken(*flags.split())
    file = tmp_path / "run.sh"
    file.write_text(f"run_model {flags}\n", encoding="utf-8")
    assert found(file) == []


@pytest.mark.parametrize(
    ("flag", "rule"),
    [
        ("--qualcomm_htp_performance_mode=2", "SET-4"),
        ("--qualcomm_htp_performance_mode=BURST", "SET-5"),
        ("--qualcomm_htp_performance_mode=turbo", "SET-2"),
        ("--qualcomm_htp_perf_ctrl_mode=1", "SET-4"),
    ],
)
def test_litert_refuses_what_the_check_finds(flag: str, rule: str, tmp_path: Path) -> None:
    """Numbers, upper case and unknown modes are refused as flags."""
    assert not flags_taken(flag)
    file = tmp_path / "run.sh"
    file.write_text(f"run_model {flag}\n", encoding="utf-8")
    assert found(file) == [rule]


def test_the_numbers_are_those_of_litert() -> None:
    """The package's own enumeration has the table's names and numbers."""
    options = pytest.importorskip("ai_edge_litert.qualcomm_options")
    own = {each.name.lower(): each.value for each in options.QualcommHtpPerformanceMode}
    assert own == dict(NUMBERS)
