"""Explain: what a field of a profile is, where it comes from, what it becomes, and what it does."""
