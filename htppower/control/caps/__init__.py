"""Caps that something outside sets and lifts: the temperature, and what the system wishes."""
