"""Advice from profilers' files: a reader for each format, the measurements, the rules, the output formats."""
