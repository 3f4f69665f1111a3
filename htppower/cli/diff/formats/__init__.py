"""The forms in which a comparison is told: one function each, from a comparison to text."""
