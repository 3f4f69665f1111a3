"""An extension file, and the command to import and export it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from support.command import Command

if TYPE_CHECKING:
    from pathlib import Path

CHAT = {
    "devices": [
        {
            "soc_model": 69,
            "dsp_arch": "v79",
            "cores": [{"core_id": 0, "perf_profile": "burst", "rpc_control_latency": 100}],
        }
    ],
    "memory": {"mem_type": "shared_buffer"},
    "groupContext": {"share_resources": True},
}


@pytest.fixture(name="command")
def _command() -> Command:
    """Return the command, wide enough to print each message in one line."""
    return Command(columns=500)


@pytest.fixture(name="chat")
def _chat(tmp_path: Path) -> Path:
    """Return an extension file as a chat app on a phone would have it."""
    file = tmp_path / "chat.json"
    file.write_text(json.dumps(CHAT))
    return file
