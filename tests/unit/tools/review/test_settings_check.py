"""The rules of a host's own settings, one statement at a time: finding, place and hint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from htppower.tools.review.settings_check import check, findings_of
from htppower.tools.runtimes.reading import said
from htppower.tools.runtimes.statements import MISTAKEN
from htppower.tools.runtimes.voting_settings import OPTIONS, Takes, Where

if TYPE_CHECKING:
    from pathlib import Path


_GENAI, _END = '{"model": {"decoder": {"session_options": {"provider_options": [{"qnn": ', "}]}}}}"
_SESSION = '{{"model": {{"decoder": {{"session_options": {{{}}}}}}}}}'


def _dialog(block: str) -> str:
    """Return a dialog of Genie with this block for the HTP, and with an extension file on the device."""
    backend = f'{{"extensions": "/data/htp.json", "QnnHtp": {{{block}}}}}'
    return f'{{"dialog": {{"engine": {{"backend": {backend}}}}}}}'


def found(text: str, name: str = "a.txt") -> list[tuple[str, str, str]]:
    """Return rule, line and column, and hint of each finding in a text."""
    return [(each.rule, f"{each.line}:{each.column}", each.hint) for each in findings_of(said(text, name), name)]


@pytest.mark.parametrize(
    ("text", "rule", "where", "hint"),
    [
        ('r.add_run_config_entry("htp_performance_mode", "burst")', "SET-1", "1:25", "write qnn.htp_perf_mode"),
        ('{"provider_options": {"qnn.htp_perf_mode": "burst"}}', "SET-1", "1:23", "write htp_performance_mode"),
        ('{"htp_performance_moed": "burst"}', "SET-1", "1:2", "write htp_performance_mode"),
        (
            '{"provider_options": {"ep.qnnexecutionprovider.htp_performance_mode": "burst"}}',
            "SET-1",
            "1:23",
            "write htp_performance_mode",
        ),
        ('o.add("ep.qnnexecutionprovider.htp_performance_mode", "turbo")', "SET-2", "1:56", ""),
        (
            f"{_GENAI}{{'rpc_control_latencyy': '100'}}{_END}".replace("'", '"'),
            "SET-1",
            "1:74",
            "write rpc_control_latency",
        ),
        (
            'r.add_run_config_entry("qnn.htp_perf_mod_post_run", "burst")',
            "SET-1",
            "1:25",
            "write qnn.htp_perf_mode_post_run",
        ),
        ("--qnn_options htp_performance_mode=BURST", "SET-1", "1:15", "write context_htp_performance_mode"),
        ("--onnx_options context_htp_performance_mode=burst", "SET-1", "1:16", "write qnn_htp_performance_mode"),
        ('custom_setting { id: "core_voltage_done" value: "x" }', "SET-1", "1:23", "leave it out"),
        ("htp_perf_ctrl_strategy = 1\n", "SET-1", "1:1", "write htp_perf_ctrl_mode"),
        ('{"htp_performance_mode": "brust"}', "SET-2", "1:26", "did you mean burst?"),
        (
            'custom_setting { id: "perf_profile" value: "extreme_power_saver" }',
            "SET-2",
            "1:45",
            "did you mean power_saver?",
        ),
        ("snpe-net-run --perf_profile=turbo_burst", "SET-2", "1:29", ""),
        ("snpe-net-run --perf_profile turbo", "SET-2", "1:29", ""),
        ("# LiteRT\nhtp_performance_mode = burst\n", "SET-3", "2:24", "write 2"),
        ("QNNExternalDelegate,htp_performance_mode=high_performance;", "SET-3", "1:42", "write 3"),
        ("qnn_executor_runner --htp_performance_mode=kHtpBurst", "SET-3", "1:44", "write 2"),
        ('set_option("qnn_runtime_htp_performance_mode", "burst");', "SET-3", "1:49", "write 2"),
        ("htp_performance_mode = 10\n", "SET-2", "1:24", ""),
        ("qnn_executor_runner --htp_performance_mode 9", "SET-2", "1:44", ""),
        ('{"htp_performance_mode": "2"}', "SET-4", "1:26", "write its name, such as burst"),
        ("qnn-net-run --perf_profile 5", "SET-4", "1:28", "write its name, such as burst"),
        (
            "o = QualcommOptions(\n  x=QualcommOptions.HTP_PERFORMANCE_MODE.BURTS)",
            "SET-2",
            "2:42",
            "did you mean BURST?",
        ),
        ("x = QualcommOptions.HTP_PERFORMANCE_MODE.Burst", "SET-5", "1:42", "write BURST"),
        ("x = qualcomm_options.QualcommHtpPerformanceMode.BURTS", "SET-2", "1:49", "did you mean BURST?"),
        ("general:\n  DSP_RPC_POLLING_TIME_US: 20000\n", "SET-2", "2:28", "write a whole number, 0 to 9999"),
        ("run --qualcomm_htp_performance_mode=7", "SET-4", "1:37", "write its name, low_balanced"),
        ("--tflite_options qnn_htp_performance_mode=2", "SET-4", "1:43", "write its name, kHtpBurst"),
        ("run --qualcomm_htp_performance_mode=10", "SET-4", "1:37", "write its name, such as default"),
        ("--qnn_options context_htp_performance_mode=high_performance", "SET-5", "1:44", "write HIGH_PERFORMANCE"),
        ("--tflite_options qnn_htp_performance_mode=burst", "SET-5", "1:43", "write kHtpBurst"),
        ('{"performance": {"policy": "Burst"}}', "SET-5", "1:28", "write burst"),
        ('{"performance": {"policy": "burst", "policy": "Burst"}}', "SET-5", "1:47", "write burst"),
        (f'{_GENAI}{{"soc_model": 60}}{_END}', "SET-6", "1:87", 'write "60"'),
        (f'{_GENAI}{{"soc_model": null}}{_END}', "SET-6", "1:87", "omit it"),
        (f'{_GENAI}{{"op_packages": ["x"]}}{_END}', "SET-6", "1:89", "omit it"),
        (f'{_GENAI}{{"soc_model": "60", "vtcm_mb": 8}}{_END}', "SET-6", "1:104", 'write "8"'),
        ('{"model": {"decoder": {"run_options": {"qnn.rpc_control_latency": 100}}}}', "SET-6", "1:67", 'write "100"'),
        ('{"qnn.rpc_control_latency": "4294967296"}', "SET-7", "1:29", "write a whole number of us, such as 100"),
        (f'{{"rpc_control_latency": "{"9" * 5000}"}}', "SET-7", "1:25", "write a whole number of us, such as 100"),
        ('{"rpc_control_latency": "-1"}', "SET-7", "1:25", "write a whole number of us, such as 100"),
        ('{"rpc_control_latency": "1.5"}', "SET-7", "1:25", "write a whole number of us, such as 100"),
        ('{"ep.dynamic.qnn_htp_performance_mode": "default"}', "SET-12", "1:41", "name a mode that votes"),
        ('o.add_session_config_entry("session.intra_op.allow_spinning", "1")  # QNN', "SET-14", "1:64", ""),
        ('{"session_options": {"session.inter_op.allow_spinning": "1"}}', "SET-14", "1:57", ""),
        (_SESSION.format('"session.intra_op.allow_spinning": "1"'), "SET-14", "1:79", ""),
        (_SESSION.format('"session.intra_op.allow_spinning": 0'), "SET-6", "1:79", 'write "0"'),
        (
            'o.add_session_config_entry("session.intra_op.allow_spining", "0")  # QNN',
            "SET-1",
            "1:29",
            "write session.intra_op.allow_spinning",
        ),
        ('{"session.intra_op.allow_spinning": "off"}', "SET-3", "1:37", ""),
        (_dialog('"poll": true'), "SET-14", "1:87", 'write "poll": false'),
        (_dialog('"poll": false, "poll": true'), "SET-14", "1:102", 'write "poll": false'),
        ("general:\n  DSP_HYSTERESIS_TIME_US: -1\n", "SET-2", "2:27", "write a whole number, 0 or more"),
        ("execute:\n  BUS_VOLTAGE_CORNER_MIN_START: TURBO\n", "SET-2", "2:33", ""),
        ("execute:\n  DSP_RPC_POLLING_TIME_US: 9999\n", "SET-1", "2:3", ""),
    ],
)
def test_one_mistake(text: str, rule: str, where: str, hint: str) -> None:
    """The finding has the rule, the place and the hint; an empty hint in the table means any."""
    (finding,) = found(text)
    assert finding[:2] == (rule, where)
    assert hint in ("", finding[2])


@pytest.mark.parametrize(
    "text",
    [
        '{"htp_performance_mode": "BURST", "rpc_control_latency": "4294967295"}',
        'providers=[("QNNExecutionProvider", {"htp_performance_mode": "burst", "rpc_control_latency": 100})]',
        '{"qnn.rpc_control_latency": "0"}',
        '{"ep.qnnexecutionprovider.htp_performance_mode": "burst"}',
        'o.add_session_config_entry("session.intra_op.allow_spinning", "0")  # QNN',
        'o.add_session_config_entry("session.disable_cpu_ep_fallback", "1")  # QNN',
        'o.add_session_config_entry("session.intra_op.allow_spinning", "1")  # the CPU only',
        _SESSION.format(
            '"session.intra_op.allow_spinning": "0", "intra_op_num_threads": 2, "enable_mem_pattern": false'
        ),
        _dialog('"poll": false'),
        _dialog('"poll": true, "poll": false'),
        '{"provider_options": {"dsp_performance_mode": "burst", "rpc_control": "x", "htp_performance": "y"}}',
        '{"profiling_level": "basic", "backend_path": "x", "htp_graph_finalization_optimization_mode": "3"}',
        "--qualcomm_htp_performance_mode balanced --qualcomm_htp_perf_ctrl_mode=auto",
        "htp_performance_mode = 9  # the lowest\n",
        "qnn-net-run --perf_profile llm_decode_burst",
        '{"performance": {"policy": "turbo", "policy": "burst"}}',
        "the profile burst of --perf_profile in words",
        "general:\n  DSP_HYSTERESIS_TIME_US: 300000\nexecute:\n  FAST_INIT_ENABLE: true\n",
    ],
)
def test_no_mistake(text: str) -> None:
    """Valid settings, and settings that do not vote, have no finding."""
    assert found(text) == []


@pytest.mark.parametrize(
    ("value", "then"),
    [
        ("1e3", "1 is taken"),
        ("100us", "100 is taken"),
        (" +7", "7 is taken"),
        ("-1", "4294967295 is taken"),
        ("99999999999", "1215752191 is taken"),
        ("18446744073709551616", "the session is not created"),
        ("9" * 30, "the session is not created"),
        ("us", "the session is not created"),
    ],
)
def test_what_comes_of_a_wrong_time(value: str, then: str) -> None:
    """onnxruntime-qnn 2.7.0 on Linux takes the number at the beginning of the text."""
    (finding,) = findings_of(said(f'{{"rpc_control_latency": "{value}"}}', "a.txt"), "a.txt")
    assert finding.message.endswith(f": {then}")


@pytest.mark.parametrize(
    ("options", "provider", "noted"),
    [
        ("", "qnn", True),
        ('"intra_op_num_threads": 2, ', "QNNExecutionProvider", True),
        ('"intra_op_num_threads": 1, ', "qnn", False),
        ('"session.intra_op.allow_spinning": "0", ', "qnn", False),
        ('"session.intra_op.allow_spinning": "1", ', "qnn", False),
        ("", "webgpu", False),
    ],
)
def test_threads_that_spin_by_default_are_noted(options: str, provider: str, noted: bool, tmp_path: Path) -> None:
    """The default depends on the build of ONNX Runtime, so the session options of an NPU get a note, not a finding."""
    file = tmp_path / "genai_config.json"
    providers = f'"provider_options": [{{"{provider}": {{"htp_performance_mode": "burst"}}}}]'
    file.write_text(_SESSION.format(options + providers), encoding="utf-8")
    checked = check([str(file)])
    assert [f"{file}:1:24: without" in note and "SET-14" in note for note in checked.notes] == [True] * noted
    assert {each.rule for each in checked.report.findings} == ({"SET-14"} if '"1"' in options else set())


@pytest.mark.parametrize("start", ["\ufeff", "// ours\n", "/* ours */"])
def test_what_stands_before_the_json_of_genai(start: str) -> None:
    """onnxruntime-genai refuses the whole file, and the finding has the place of the text."""
    text = f'{start}{{"model": {{"decoder": {{}}}}}}'
    for data in (text, text.encode()):
        (problem,) = said(data, "genai_config.json").problems
        assert (problem.rule, problem.line, problem.column) == ("SET-13", 1, 1)


def test_genie_takes_a_byte_order_mark() -> None:
    """The policy behind it is checked."""
    text = '\ufeff{"performance": {"policy": "turbo"}}'
    for data in (text, text.encode()):
        read = said(data, "policy.json")
        assert read.problems == ()
        assert [each.rule for each in findings_of(read, "policy.json")] == ["SET-2"]


@pytest.mark.parametrize("value", ["no", "9" * 30])
def test_a_value_that_yaml_refuses_is_told_once(value: str) -> None:
    """If parsers read a word differently, the YAML reader's finding is the only one."""
    config = said(f"general:\n  DSP_RPC_POLLING_TIME_US: {value}\n  ASYNC_VOTING_ENABLE: no\n", "perf.yaml")
    assert list(findings_of(config, "perf.yaml")) == []
    assert [each.line for each in config.problems] == [2, 3]
    assert not [each for each in config.problems if "object at" in str(each)]


@pytest.mark.parametrize("where", Where)
def test_every_mode_of_the_table_is_known(where: Where) -> None:
    """Each spelling means a mode with a record, and none is mistaken for a key."""
    from htppower.profiles.expressed import records  # noqa: PLC0415 - it reads files

    for (place, key), option in OPTIONS.items():
        if place is not where:
            continue
        assert (place, key) not in MISTAKEN
        assert option.unknown
        if option.is_mode and option.takes is not Takes.TIME:
            modes = {mode for mode in option.modes.values() if not mode.startswith("llm_decode")} - {"custom"}
            assert modes <= set(records(option.runtime))
    for (place, _), meant in MISTAKEN.items():
        assert not meant or (place, meant) in OPTIONS


@pytest.mark.parametrize("where", Where)
def test_messages_speak_of_several_options(where: Where) -> None:
    """The messages use plural verbs, so each subject must be a plural."""
    head = where.value.partition(" in ")[0].partition(" of ")[0]
    assert head.endswith("s"), where


def test_a_file_is_told_once_and_in_order(tmp_path: Path) -> None:
    """A file named twice is checked once; findings are sorted by file and place."""
    file = tmp_path / "host.py"
    file.write_text('a("qnn.rpc_control_latency", "x")\na("qnn.perf_mode", "burst")\n', encoding="utf-8")
    checked = check([str(file), str(file)])
    assert [(each.rule, each.line) for each in checked.report.findings] == [("SET-7", 1), ("SET-1", 2)]
    assert checked.report.files == (str(file),)
