"""Settings for Genie on the vendor's library: made settings are accepted, and settings with errors are refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import attrs
import pytest
from support.checkout import TESTS
from support.runtime_settings import settings
from support.voter import libraries

from htppower import load_profile, profile_names
from htppower.tools.review.settings_check import check
from htppower.tools.runtimes.json_settings import DIALOGS as GENIES

if TYPE_CHECKING:
    from pathlib import Path

    from support.voter import Voter

PROCESS = TESTS / "support" / "processes" / "genie_configs.py"
BLOCK = {
    "version": 1,
    "use-mmap": False,
    "spill-fill-bufsize": 0,
    "mmap-budget": 0,
    "poll": False,
    "cpu-mask": "0xe0",
    "kv-dim": 64,
    "pos-id-dim": 32,
    "allow-async-init": False,
}


def dialog(block: dict[str, Any] | None = None, backend: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return a dialog's configuration that Genie accepts, with more keys in its backend and the block inside."""
    model = {"version": 1, "type": "binary", "binary": {"version": 1, "ctx-bins": ["a.bin"]}}
    of_backend = {"version": 1, "type": "QnnHtp", "QnnHtp": {**BLOCK, **(block or {})}, **(backend or {})}
    engine = {"version": 1, "n-threads": 1, "backend": of_backend, "model": model}
    context = {"version": 1, "size": 64, "n-vocab": 3, "bos-token": 1, "eos-token": 2}
    sampler = {"version": 1, "seed": 1, "temp": 0.8, "top-k": 40, "top-p": 0.95}
    tokenizer = {"version": 1, "path": "tokenizer.json"}
    whole = {"version": 1, "type": "basic", "context": context, "sampler": sampler, "tokenizer": tokenizer}
    return {"dialog": {**whole, "engine": engine}}


DIALOGS = {
    "extensions": (dialog(backend={"extensions": "inner.json"}), set[str]()),
    "no extensions": (dialog(), {"SET-10"}),
    "poll": (dialog({"poll": True}, {"extensions": "inner.json"}), {"SET-14"}),
    "perf-profile": (dialog({"perf-profile": "burst"}, {"extensions": "inner.json"}), {"SET-8"}),
    "perf_profile": (dialog({"perf_profile": "burst"}, {"extensions": "inner.json"}), {"SET-8"}),
    "rpc": (dialog({"rpc-polling-time": 1}, {"extensions": "inner.json"}), {"SET-8"}),
    "beside": (dialog(backend={"extensions": "inner.json", "performance": {"policy": "burst"}}), {"SET-8"}),
}
# Keys that Genie accepts at the top of a node's configuration, and some that it refuses.
NODES = (
    *(name for name in GENIES if name not in ("dialog", "embedding", "standalone-engine")),
    "text-decoder",
    "dialog-x",
)
POLICIES = ("burst", "BURST", "default", "system_settings", "llm_decode_burst", "llm_decode_default", "turbo")


@pytest.fixture(scope="module")
def codes() -> dict[str, int]:
    """Return Genie's codes for each dialog and policy."""
    configs = {name: config for name, (config, _) in DIALOGS.items()}
    configs |= {f"policy {name}": {"performance": {"policy": name}} for name in POLICIES}
    folder = libraries()
    done = subprocess.run(
        [sys.executable, str(PROCESS), str(folder)],
        input="".join(f"{json.dumps(config)}\n" for config in configs.values()),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
    )
    answers = [int(line.removeprefix("## ")) for line in done.stdout.splitlines() if line.startswith("## ")]
    assert done.returncode == 0, done.stderr
    return dict(zip(configs, answers, strict=True))


@pytest.mark.parametrize("name", DIALOGS)
def test_genie_refuses_a_dialog_as_the_check_says(codes: dict[str, int], name: str, tmp_path: Path) -> None:
    """If the check finds an error, the dialog can't be made; with a warning or no finding it can."""
    config, finds = DIALOGS[name]
    file = tmp_path / "dialog.json"
    file.write_text(json.dumps(config, indent=2), encoding="utf-8")
    (tmp_path / "inner.json").write_text('{"devices": [{"cores": [{"perf_profile": "burst"}]}]}', encoding="utf-8")
    report = check([str(file)]).report
    assert {finding.rule for finding in report.findings} == finds
    assert any(map(report.counts, report.findings)) is (codes[name] != 0)


def test_the_nodes_that_are_known_are_those_of_genie() -> None:
    """Genie rejects an unknown node by its key; for a known node it reports the missing parts."""
    folder = libraries()
    done = subprocess.run(
        [sys.executable, str(PROCESS), str(folder)],
        input="".join(f"{json.dumps({name: {}})}\n" for name in NODES),
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, "LD_LIBRARY_PATH": str(folder)},
    )
    assert done.returncode == 0, done.stderr
    unknown = [name for name in NODES if f"Unknown config key: {name}\n" in done.stdout + done.stderr]
    assert unknown == [name for name in NODES if name not in GENIES]


@pytest.mark.parametrize("name", POLICIES)
def test_genie_takes_a_policy_as_the_check_says(codes: dict[str, int], name: str, tmp_path: Path) -> None:
    """Genie accepts a policy exactly if the check has no finding."""
    file = tmp_path / "policy.json"
    file.write_text(json.dumps({"performance": {"policy": name}}), encoding="utf-8")
    assert bool(check([str(file)]).report.findings) is (codes[f"policy {name}"] != 0)


@pytest.mark.parametrize("name", profile_names())
def test_the_extension_file_for_a_profile_is_taken(reader: Voter, name: str) -> None:
    """The vendor's parser accepts the file for each shipped profile, and with every vote that has a key."""
    made = settings(load_profile(name), "genie")
    files = [part.text for part in made.parts if part.where.startswith("extension file")]
    assert [reader.accepted(text) for text in files] == [True, True]
    votes = attrs.evolve(
        load_profile("burst").votes, rpc_control_latency_us=250, adaptive_polling_time_us=2000, hmx_timeout_us=500_000
    )
    mine = settings(attrs.evolve(load_profile("burst"), votes=votes), "genie")
    for part in mine.parts[:2]:
        assert '"hmx_timeout_us": 500000' in part.text
        assert reader.accepted(part.text)
