"""Readers of traces: a module for each kind of file, and shared code. ``read.py`` picks the reader by the content."""
