"""Lint: every finding in profile files, with its place, from YAML traps to questions for a reviewer."""
