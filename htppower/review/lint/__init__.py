"""Lint: every finding in profile files, with its place, from YAML traps to what a reviewer would ask about."""
