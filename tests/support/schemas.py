"""The JSON Schemas, as an editor checks a file against them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import yaml
from jsonschema import Draft7Validator

from htppower.tools.review.json_schema import FILES, json_schema

if TYPE_CHECKING:
    from pathlib import Path

VALIDATORS = {name: Draft7Validator(json_schema(name)) for name in FILES}


def refused(kind: str, file: Path) -> bool:
    """Return whether an editor refuses a file: its parser, or the schema."""
    try:
        tree = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (yaml.YAMLError, ValueError, RecursionError):
        return True
    return not VALIDATORS[kind].is_valid(tree)
