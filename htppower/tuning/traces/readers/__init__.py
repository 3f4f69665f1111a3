"""Readers of traces: one module for each kind of file, and what they share. ``read.py`` picks one by the content."""
