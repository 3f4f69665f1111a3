"""Settings in source code, scripts and texts of all languages: literals are read, and nothing else."""

# ruff: noqa: E501, Q003 - a case is a line

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from htppower.tools.review.settings_check import findings_of
from htppower.tools.runtimes.reading import said
from htppower.tools.runtimes.voting_settings import Where

if TYPE_CHECKING:
    from collections.abc import Sequence

# A file's name, its text, and the values read from it, in order.
READ = [
    # Python
    ("a.py", 'options = {"backend_path": "libQnnHtp.so", "htp_performance_mode": "burst"}', ["burst"]),
    ("a.py", "options = dict(backend_path=path, htp_performance_mode='bursty')", ["bursty"]),
    ("a.py", 'opts["htp_performance_mode"] = "brust"  # fast', ["brust"]),
    ("a.py", 'o.setdefault("htp_performance_mode", "burst")', ["burst"]),
    ("a.py", 'provider_options=[{"htp_performance_mode": "balanced", "rpc_control_latency": str(100)}]', ["balanced", "100"]),
    ("a.py", 'opts.update(htp_performance_mode=("burst"))', ["burst"]),
    ("a.py", 'ro.add_run_config_entry("qnn.htp_perf_mode",\n    "burst")', ["burst"]),
    ("a.py", 'config.set_provider_option("qnn", "htp_performance_mode", "burst")', ["burst"]),
    ("a.py", 'subprocess.run(["qnn-net-run", "--perf_profile", "turbo"])', ["turbo"]),
    ("a.py", 'job = submit(options="--qnn_options context_htp_performance_mode=BURST")', ["BURST"]),
    ("a.py", 'run(["x", "--qnn_options", "context_htp_performance_mode=BURST"])', ["BURST"]),
    ("a.py", 'os.system("qnn-net-run --perf_profile=burst --backend x")', ["burst"]),
    ("a.py", "from qai_appbuilder import PerfProfile\nPerfProfile.SetPerfProfileGlobal(PerfProfile.BURST)", ["BURST"]),
    ("a.py", "model.Inference([image], PerfProfile.BURST)", ["BURST"]),
    ("a.cpp", 'SetPerfProfileGlobal("turbo");', ["turbo"]),
    ("a.py", 'p = {**common, "htp_performance_mode": "burst"}', ["burst"]),
    ("a.py", 'def f():\n    """No setting."""\n    return {\n        "htp_performance_mode":\n            "burst",\n    }', ["burst"]),
    ("a.py", "o = QualcommOptions(htp_performance_mode=QualcommOptions.HTP_PERFORMANCE_MODE.BURST)", ["BURST"]),
    ("a.py", "htp_options.performance_mode = QnnExecuTorchHtpPerformanceMode.kHtpBurst", ["kHtpBurst"]),
    ("a.py", 'load_delegate("x.so", options={"htp_performance_mode": 2})', ["2"]),
    ("a.py", 'TEXT = \'{"htp_performance_mode": "bursty"}\'', ["bursty"]),
    ("a.ipynb", '{"nbformat": 4, "cells": [{"cell_type": "code", "source": ["o = {\\n", "\\"htp_performance_mode\\": \\"bursty\\"}"]}]}', ["bursty"]),
    ("a.ipynb", '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "!qnn-net-run --perf_profile turbo"}]}', ["turbo"]),
    # C and C++
    ("a.cc", 'std::unordered_map<std::string, std::string> o{{"htp_performance_mode", "bursty"}};', ["bursty"]),
    ("a.cc", 'o["htp_performance_mode"] = std::string("burst");', ["burst"]),
    ("a.cc", 'o.emplace("htp_performance_mode", "burst"); o.insert({"rpc_control_latency", "100"});', ["burst", "100"]),
    ("a.cpp", 'const char* keys[] = {"backend_path", "htp_performance_mode"};\nconst char* values[] = {path, "high"};', ["high"]),
    ("a.c", 'const char *ks[2] = {"htp_performance_mode", "soc_model"};\nconst char *vals[2] = {"burst", "60"};', ["burst"]),
    ("a.cc", 'std::vector<const char*> keys{"htp_performance_mode"  , "vtcm_mb"};\nstd::vector<const char*> values{"burst", "8"};', ["burst"]),
    ("a.cc", 'api->AddRunConfigEntry(run_options, "qnn.htp_perf_mode", "burst");', ["burst"]),
    ("a.cc", 'run_options.AddConfigEntry("qnn.htp_perf_mode", "burst");', ["burst"]),
    ("a.cc", "q.SetHtpPerformanceMode(litert::qualcomm::QualcommOptions::HtpPerformanceMode::kBurst);", ["kBurst"]),
    ("a.cc", "q.SetHtpPerformanceMode(\n    litert::qualcomm::QualcommOptions::\n        HtpPerformanceMode::kBursty);", ["kBursty"]),
    ("a.c", "LrtQualcommOptionsSetHtpPerformanceMode(o, kLiteRtQualcommHtpPerformanceModeBurst);", ["kLiteRtQualcommHtpPerformanceModeBurst"]),
    ("a.cc", "o.htp_options.performance_mode = kHtpBurst;\no.htp_options.perf_ctrl_strategy = kHtpPerfCtrlAuto;", ["kHtpBurst", "kHtpPerfCtrlAuto"]),
    ("a.cc", 'TfLiteExternalDelegateOptionsInsert(&o, "htp_performance_mode", "2");', ["2"]),
    ("a.cc", 'set_option("qnn_runtime_htp_performance_mode", 2);', ["2"]),
    ("a.cc", 'const char* json = R"({"htp_performance_mode": "bursty"})";', ["bursty"]),
    ("a.cc", 'const char* json = "{\\"htp_performance_mode\\": \\"bursty\\"}";', ["bursty"]),
    ("a.cc", 'int n = 1\'000; o["htp_performance_mode"] = "burst"; char c = \'"\'; // "', ["burst"]),
    # Kotlin and Java
    ("a.kt", 'val o = mapOf("backend_path" to "x", "htp_performance_mode" to "bursty")', ["bursty"]),
    ("a.kt", 'o["htp_performance_mode"] = "burst"\nval n = 2', ["burst"]),
    ("a.kt", "val o = QualcommOptions(htpPerformanceMode = HtpPerformanceMode.BURST)", ["BURST"]),
    ("a.kt", "val o = CompiledModel.QualcommOptions(\n  htpPerformanceMode = CompiledModel.QualcommOptions.HtpPerformanceMode.BURTS,\n)", ["BURTS"]),
    ("a.kt", "QnnDelegate.Options().apply {\n  setHtpPerformanceMode(QnnDelegate.Options.HtpPerformanceMode.HTP_PERFORMANCE_BURST)\n}", ["HTP_PERFORMANCE_BURST"]),
    ("A.java", "o.setHtpPerformanceMode(QnnDelegate.Options.HtpPerformanceMode.HTP_PERFORMANCE_BURST);", ["HTP_PERFORMANCE_BURST"]),
    ("A.java", 'options.put("htp_performance_mode", "burst");\noptions.put("rpc_control_latency", "soon");', ["burst", "soon"]),
    ("A.java", 'Map<String, String> o = Map.of("backend_path", "x", "htp_performance_mode", "bursty");', ["bursty"]),
    ("A.java", 'runOptions.addRunConfigEntry("qnn.perf_mode", "burst");', ["burst"]),
    # C#
    ("a.cs", 'o.AppendExecutionProvider("QNN", new Dictionary<string, string>\n{\n  { "htp_performance_mode", "bursty" },\n});', ["bursty"]),
    ("a.cs", 'new Dictionary<string, string> { ["htp_performance_mode"] = "burst", ["soc_model"] = "60" }', ["burst"]),
    ("a.cs", 'config.SetProviderOption("qnn", "htp_performance_mode", "brust");', ["brust"]),
    ("a.cs", 'var p = @"C:\\dir\\"; o["htp_performance_mode"] = "burst";', ["burst"]),
    # Rust
    ("a.rs", "ep::QNN::default().with_performance_mode(ep::qnn::PerformanceMode::Burst)", ["Burst"]),
    ("a.rs", "QNNExecutionProvider::default().with_performance_mode(PerformanceMode::Bursty)", ["Bursty"]),
    ("a.rs", 'fn f<\'a>(x: &\'a str) { p.with_arbitrary_config("rpc_control_latency", "100") }', ["100"]),
    ("a.rs", "ep::QNN::default().with_rpc_control_latency(100)", ["100"]),
    ("a.rs", 'o.insert("htp_performance_mode".to_string(), "burst".to_string());', ["burst"]),
    # JavaScript
    ("a.js", "s.create(m, {executionProviders: [{name: 'qnn', htp_performance_mode: 'bursty'}]})", ["bursty"]),
    ("a.ts", "const o = { 'htp_performance_mode': `burst` }", ["burst"]),
    # YAML
    ("a.yaml", "provider_options:\n  - htp_performance_mode: bursty\n    rpc_control_latency: '100'\n", ["bursty", "100"]),
    ("a.yml", "steps:\n  - run: |\n      # --perf_profile never\n      qnn-net-run --perf_profile turbo\n", ["turbo"]),
    ("a.yaml", 'command: ["qnn-net-run", "--perf_profile", "turbo"]\n', ["turbo"]),
    ("a.yaml", "parameters:\n  - key: htp_performance_mode\n    value: burst\n", ["burst"]),
    ("config.pbtxt", 'parameters {\n  key: "htp_performance_mode"\n  value: { string_value: "bursty" }\n}\n', ["bursty"]),
    # Command lines
    ("a.sh", "qnn-net-run --perf_profile \\\n  turbo --backend x", ["turbo"]),
    ("a.sh", 'onnxruntime_perf_test -e qnn -i "backend_path|x htp_performance_mode|bursty" m.onnx', ["bursty"]),
    ("a.sh", "geniex infer m --power-mode burst", ["burst"]),
    ("a.sh", "qai-hub submit --options '--qnn_options context_htp_performance_mode=Burst'", ["Burst"]),
    ("a.bat", "rem --perf_profile no\r\nqnn-net-run.exe --perf_profile burst\r\n", ["burst"]),
    ("a.sh", "benchmark_model --external_delegate_options='backend_type:htp;htp_performance_mode:burst'", ["burst"]),
    ("a.sh", "x qtimltflite external-delegate-options=\"QNNExternalDelegate,htp_performance_mode=(string)2;\"", ["2"]),
    ("README.md", "Use --perf_profile no.\n\n```bash\nqnn-net-run --perf_profile turbo\n```\n", ["turbo"]),
    ("README.md", 'Set `htp_performance_mode`:\n```python\no = {"htp_performance_mode": "bursty"}\n```\n', ["bursty"]),
    ("README.md", "In words.\n\n```yaml\nhtp_performance_mode: bursty\n```\n", ["bursty"]),
    ("a.ipynb", '{"nbformat": 4, "cells": [{"cell_type": "code", "source": "a = 1\\no = {\\"htp_performance_mode\\": \\"bursty\\"}"}]}', ["bursty"]),
    ("notes", 'o = {"htp_performance_mode": "burst"}\nqnn-net-run --perf_profile turbo\n', ["burst", "turbo"]),
    ("package.json", '{"scripts": {"run": "qnn-net-run --perf_profile turbo"}}', ["turbo"]),
]  # fmt: skip

# A file's name, and a text with a key whose value is unknown.
UNKNOWN = [
    ("a.py", 'opts["htp_performance_mode"] = mode'),
    ("a.py", 'opts["htp_performance_mode"] = args.mode'),
    ("a.py", 'opts = {"htp_performance_mode": self.config.mode, "x": 1}'),
    ("a.py", 'opts = {"htp_performance_mode": os.environ.get("MODE", "burst")}'),
    ("a.py", 'opts = {"htp_performance_mode": MODES[i]}'),
    ("a.py", 'opts = {"htp_performance_mode": "burst" if fast else "turbo"}'),
    ("a.py", 'opts = {"htp_performance_mode": f"{mode}"}'),
    ("a.py", 'opts = {"htp_performance_mode": "%s" % mode}'),
    ("a.py", 'opts = {"htp_performance_mode": "{}".format(mode)}'),
    ("a.py", 'opts = {"htp_performance_mode": "bur" + rest}'),
    ("a.py", 'opts = {"htp_performance_mode": "bur" "sty"}'),
    ("a.py", 'opts = {"htp_performance_mode": mode or "turbo"}'),
    ("a.py", 'opts = {"htp_performance_mode": None}'),
    ("a.py", 'opts = {"rpc_control_latency": str(latency)}'),
    ("a.py", 'KNOWN = {"htp_performance_mode", "vtcm_mb", "rpc_control_latency"}'),
    ("a.py", 'KNOWN = {"rpc_control_latency", "vtcm_mb"}'),
    ("a.py", 'KNOWN = ["rpc_control_latency", "vtcm_mb"]'),
    ("a.py", 'for key in ("htp_performance_mode", "rpc_control_latency"):\n    print(key)'),
    ("a.py", 'opts["htp_performance_mode"] = QnnExecuTorchHtpPerformanceMode(mode)'),
    ("a.py", 'if opts["htp_performance_mode"] == "turbo":\n    pass'),
    ("a.py", 'parser.add_argument("--htp_performance_mode", "turbo", default="turbo")'),
    ("a.py", 'parser.add_argument("--x", help="as --perf_profile turbo of the tool")'),
    ("a.py", 'opts.get("htp_performance_mode", "turbo")'),
    ("a.py", 'def run(htp_performance_mode="turbo"):\n    pass'),
    ("a.py", 'htp_performance_mode = "turbo"'),
    ("a.py", '"""Run with --perf_profile turbo."""\n'),
    ("a.py", 'def f():\n    """Give {"htp_performance_mode": "turbo"}."""\n'),
    ("a.py", '# opts = {"htp_performance_mode": "turbo"}\n'),
    ("a.py", 'print("use --perf_profile turbo")'),
    ("a.py", 'raise ValueError("htp_performance_mode", "is required")'),
    ("a.py", 'cmd = f"qnn-net-run --perf_profile {mode}"'),
    ("a.py", 'cmd = "qnn-net-run --perf_profile " + mode'),
    ("a.py", 'options = f"--qnn_options context_htp_performance_mode={mode}"'),
    ("a.py", 'cmd = ["qnn-net-run", "--perf_profile", mode]'),
    ("a.py", "PerfProfile.SetPerfProfileGlobal(mode)"),
    ("a.py", "def SetPerfProfileGlobal(self, profile): pass"),
    ("a.cc", "bool SetPerfProfileGlobal(const std::string& profile) { return true; }"),
    ("a.py", "PerfProfile.SetPerfProfileGlobal(getattr(PerfProfile, name))"),
    ("a.cc", 'o["htp_performance_mode"] = mode;'),
    ("a.cc", 'o.emplace("htp_performance_mode", getenv("MODE"));'),
    ("a.cc", 'o.emplace("htp_performance_mode", fast ? "burst" : "turbo");'),
    ("a.cc", 'o = {{"htp_performance_mode", kMode}};'),
    ("a.cc", 'o = {{"htp_performance_mode", HTP_MODE}};\n#define HTP_MODE "turbo"'),
    ("a.cc", 'std::set<std::string> k = {"rpc_control_latency", "vtcm_mb", "htp_performance_mode"};'),
    ("a.cc", 'if (key == "htp_performance_mode") { supported = {"burst", "balanced"}; }'),
    ("a.cc", 'case X: return "htp_performance_mode";'),
    ("a.cc", '// o["htp_performance_mode"] = "turbo";\n/* o["htp_performance_mode"] = "turbo"; */'),
    ("a.cc", '#if 0\no["htp_performance_mode"] = "turbo";\n#endif\n'),
    ("a.cc", "q.SetHtpPerformanceMode(kMode);"),
    ("a.cc", "q.SetHtpPerformanceMode(options.mode());"),
    ("a.cc", "case HtpPerformanceMode::kBursty: break;"),
    ("a.cc", 'ABSL_FLAG(std::string, htp_performance_mode, "turbo", "The mode.");'),
    ("a.cc", 'DEFINE_string(htp_performance_mode, "turbo", "The --htp_performance_mode 99 of it");'),
    ("a.cc", "EXPECT_EQ(o.mode(), HtpPerformanceMode::kBursty);"),
    ("a.cc", "mode_ = qnn::HtpPerformanceMode::kHtpBurst;"),
    ("a.kt", 'mapOf("htp_performance_mode" to mode)'),
    ("a.kt", 'mapOf("htp_performance_mode" to "$mode")'),
    ("a.kt", 'mapOf("htp_performance_mode" to "${cfg.mode}")'),
    ("a.kt", 'mapOf("htp_performance_mode" to if (fast) "burst" else "turbo")'),
    ("a.kt", "QualcommOptions(htpPerformanceMode = HtpPerformanceMode.valueOf(name))"),
    ("a.kt", "QualcommOptions(htpPerformanceMode = mode)"),
    ("a.kt", "when (mode) { HtpPerformanceMode.BURTS -> 1 }"),
    ("A.java", 'o.put("htp_performance_mode", mode);'),
    ("A.java", 'o.put("htp_performance_mode", "bur".concat("st"));'),
    ("A.java", "o.setHtpPerformanceMode(mode);"),
    ("A.java", "// o.setHtpPerformanceMode(QnnDelegate.Options.HtpPerformanceMode.HTP_PERFORMANCE_TURBO);"),
    ("a.cs", '["htp_performance_mode"] = $"{mode}"'),
    ("a.cs", 'config.SetProviderOption("qnn", "htp_performance_mode", Mode);'),
    ("a.rs", 'o.insert("htp_performance_mode", mode.as_str());'),
    ("a.rs", "builder.with_performance_mode(PerformanceMode::Accuracy)"),
    ("a.rs", "QNN::default().with_performance_mode(config.mode)"),
    ("a.js", "const o = { htp_performance_mode: process.env.MODE ?? 'turbo' }"),
    ("a.ts", "const o = { htp_performance_mode: `${mode}` }"),
    ("a.ts", "interface O { htp_performance_mode: string }"),
    ("a.yaml", "htp_performance_mode: {{ mode }}\n"),
    ("a.yaml", "htp_performance_mode: '{{ mode }}'\n"),
    ("a.yaml", "htp_performance_mode: ${MODE}\n"),
    ("a.yaml", "# htp_performance_mode: turbo\n"),
    ("a.json", '{"htp_performance_mode": "${MODE}"}'),
    ("a.toml", "htp_performance_mode = {{ mode }}\n"),
    ("a.sh", "qnn-net-run --perf_profile $MODE"),
    ("a.sh", 'qnn-net-run --perf_profile "${MODE:-burst}"'),
    ("a.sh", "qnn-net-run --perf_profile=$(mode)"),
    ("a.sh", "# qnn-net-run --perf_profile turbo"),
    ("a.sh", 'echo "qnn-net-run --perf_profile turbo"'),
    ("a.sh", "qnn-net-run [--perf_profile <mode>]"),
    ("a.sh", "qnn-net-run --perf_profile burst|balanced"),
    ("a.sh", "mytool --power-mode fast"),
    ("a.bat", "qnn-net-run --perf_profile %MODE%"),
    ("a.sh", 'qai-hub --options "--qnn_options context_htp_performance_mode=$MODE"'),
    ("README.md", "Use `--perf_profile turbo` with care.\n"),
    ("notes.txt", "the mode of --perf_profile is one of them\n"),
    ("notes.txt", "The flag --qualcomm_htp_performance_mode is one of LiteRT\n"),
    ("a.ps1", "<#\n --perf_profile turbo\n#>\n"),
    ("a.ps1", 'Write-Host "--perf_profile turbo"'),
    ("a.sh", "python demo.py --htp_performance_mode burst"),
    ("a.sh", "./bench --perf_profile max"),
    ("a.sh", "cargo run --release -- --perf_profile=fast"),
    ("a.py", 'subprocess.run(["python", "demo.py", "--htp_performance_mode", "burst"])'),
    (
        "README.md",
        "```\nusage: x [-h]\n  --perf_profile PERF_PROFILE  the profile\n  --htp_performance_mode MODE\n```\n",
    ),
    ("a.py", 'HELP = {"htp_performance_mode": "Performance mode of the HTP", "rpc_control_latency": "Latency (us)"}'),
    ("a.py", 'ENVIRONMENT = {"htp_performance_mode": "HTP_PERFORMANCE_MODE"}'),
    ("ci.yml", "strategy:\n  matrix:\n    htp_performance_mode: [burst, balanced]\n"),
    ("en.json", '{"htp_performance_mode": "How fast the HTP runs"}'),
]


DOUBTFUL_AND_WRONG = [
    ("a.ps1", "<#\n burst\n#>\n& qnn-net-run.exe --perf_profile turbo", "turbo"),
    ("app.toml", '[session.qnn]\nbackend_path = "x"\nhtp_performance_mode = "bursty"\n', "bursty"),
    ("app.ini", "; of the HTP\n[qnn]\nhtp_performance_mode = bursty\n", "bursty"),
    ("app.cfg", "backend_path=libQnnHtp.so\nhtp_performance_mode=brst\n", "brst"),
    ("litert.toml", 'htp_performance_mode = "burst"\n', "burst"),
    ("a.sh", "./qnn_executor_runner --htp_performance_mode burst", "burst"),
    ("a.sh", "adb shell ./snpe-net-run --perf_profile max", "max"),
    ("a.sh", 'FLAGS="--perf_profile max"\nqnn-net-run $FLAGS', "max"),
    ("a.py", 'opts = {"htp_performance_mode": "High Performance"}', "High Performance"),
    ("a.py", 'opts = {"htp_performance_mode": "burst", "rpc_control_latency": "100 us"}', "100 us"),
]


def names(cases: Sequence[tuple[str, ...] | tuple[str, str, list[str]]]) -> list[str]:
    """Return a name for each case: its file and its number."""
    return [f"{case[0]}-{number}" for number, case in enumerate(cases)]


@pytest.mark.parametrize(("path", "text", "values"), READ, ids=names(READ))
def test_a_literal_is_read(path: str, text: str, values: list[str]) -> None:
    """Each value has the right place, and an unknown value is found, too."""
    found = said(text, path)
    assert found.problems == ()
    assert [each.value for each in found.statements] == values
    lines = text.split("\n")
    for each in found.statements:
        assert each.value in lines[each.place.line - 1][each.place.column - 1 :]
    wrong = [each.place for each in findings_of(found, path) if each.rule != "SET-11"]
    known = [bool(each.mode) or each.value.isdecimal() for each in found.statements]
    assert bool(wrong) == (not all(known) or "qnn.perf_mode" in text)


@pytest.mark.parametrize(("path", "text"), UNKNOWN, ids=names(UNKNOWN))
def test_what_is_no_literal_is_not_known(path: str, text: str) -> None:
    """A variable, a call, a template, a choice, a list of names, or a comment is neither found nor read."""
    found = said(text, path)
    assert found.statements == ()
    assert list(findings_of(found, path)) == []


@pytest.mark.parametrize(("path", "text", "value"), DOUBTFUL_AND_WRONG, ids=names(DOUBTFUL_AND_WRONG))
def test_a_wrong_value_of_a_known_program_is_found(path: str, text: str, value: str) -> None:
    """For a known program, without a program, and with blanks in a mode, the value is read and found wrong."""
    found = said(text, path)
    assert [each.value for each in found.statements if not each.mode] == [value]
    assert list(findings_of(found, path)) != []


@pytest.mark.parametrize(
    "text", ['[app.qnn]\nhtp_performance_mode = "burst"\n', "htp_performance_mode=burst\nvtcm_mb=8\n"]
)
def test_a_host_configures_the_provider_by_name(text: str) -> None:
    """In a section, or next to other options of the provider, a mode is ONNX Runtime's, not a LiteRT number."""
    found = said(text, "app.toml")
    assert [(each.where, each.mode) for each in found.statements] == [(Where.PROVIDER, "burst")]


UNITS = ["/*", '"\\', "'''", "(", "{'", "`", "R(", '\\"', "\n", "--qnn_options ", "--perf_profile ", "custom_setting "]


@pytest.mark.parametrize("path", ["a.cc", "a.js", "a.sh", "a.txt", "a.yaml", "a.md"])
@pytest.mark.parametrize("unit", UNITS)
def test_the_time_grows_with_the_size(path: str, unit: str) -> None:
    """A text twenty times as long takes at most about sixty times as long, however it repeats itself."""
    taken_s = []
    for size in (1_000, 20_000):
        text = 'x = {"htp_performance_mode": y}\n```\n' + unit * (size // len(unit))
        begin_s = time.process_time()
        said(text, path)
        taken_s.append(time.process_time() - begin_s)
    assert taken_s[1] < 60 * max(taken_s[0], 0.002)


@pytest.mark.parametrize("text", ["x = htp + \n" + "(" * 300_000, "qnn-net-run --perf_profile burst\n" * 6000])
def test_more_than_is_read_is_an_error(text: str) -> None:
    """The error has the limit, and nothing of the file is read."""
    found = said(text, "a.sh")
    assert found.statements == ()
    assert [(each.rule, each.message[:9]) for each in found.problems] == [("FILE-2", "more than")]
