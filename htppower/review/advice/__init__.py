"""Advice from profilers' files: readers, a file a format; what was measured; the rules; the output formats."""
