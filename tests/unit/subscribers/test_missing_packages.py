"""Subscribers whose package is not installed."""

from __future__ import annotations

import builtins
import importlib
import sys
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("module", "package", "extra"),
    [("prometheus", "prometheus_client", "metrics"), ("opentelemetry", "opentelemetry", "otel")],
)
def test_a_missing_package_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, module: str, package: str, extra: str
) -> None:
    """The import error names the extra."""
    real = builtins.__import__

    def refusing(name: str, *arguments: Any, **options: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return real(name, *arguments, **options)

    importlib.import_module(f"htppower.subscribers.{module}")
    monkeypatch.delitem(sys.modules, f"htppower.subscribers.{module}")
    monkeypatch.setattr(builtins, "__import__", refusing)
    with pytest.raises(ImportError, match=rf'pip install "htppower\[{extra}\]"'):
        importlib.import_module(f"htppower.subscribers.{module}")
