"""Explain: the meaning of a profile's field, its origin, its native form and its effect."""
