"""A run as JSON, format version 1."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from htppower.tools.review.dry_run.observer import Row
    from htppower.tools.review.dry_run.report import Report

FORMAT_VERSION = 1


def as_json(report: Report) -> str:
    """Return the report. Keys keep their order between versions."""
    platform = report.backend.platform
    soc = platform.soc
    document = {
        "format_version": FORMAT_VERSION,
        "profile": report.profile.name,
        "source": None if report.profile.source is None else str(report.profile.source),
        **({"record": report.record_lines[0]} if report.record_lines else {}),
        "platform": {
            "soc_model": None if soc is None else soc.model,
            "soc": None if soc is None else "/".join(soc.names),
            "arch": f"V{platform.arch}",
        },
        "workload": {
            "inferences": report.workload.inferences,
            "inference_us": report.workload.inference_us,
            "gap_us": report.workload.gap_us,
        },
        "calls": [_call(row) for row in report.rows],
        "degradations": [{"rule": lost.rule, "message": lost.message} for lost in report.degradations],
        "summary": {
            "native_calls": len(report.rows),
            "set_power_config": report.count("setPowerConfig"),
            "time_in_state_us": {state.value: time_us for state, time_us in report.time_in_state_us.items()},
            **({"time_outs_us": report.time_outs_us, "further_us": report.further_us} if report.sustain_lines else {}),
        },
    }
    return json.dumps(document, indent=2)


def _call(row: Row) -> dict[str, Any]:
    call = row.call
    return {
        "time_us": call.time_us,
        "phase": None if row.phase is None else row.phase.value,
        "cause": row.cause.value,
        "function": call.function,
        "device_id": call.device_id,
        "core_id": call.core_id,
        "power_config_id": call.power_config_id,
        "state": row.state.value,
        "configs": [
            {"option": config.option, "fields": dict(config.fields), "symbols": dict(config.symbols)}
            for config in call.configs
        ],
        "code": call.code,
    }
