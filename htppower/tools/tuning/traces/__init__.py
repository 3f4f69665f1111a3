"""Traces: when inferences began and ended, read from the files of several tools."""
