"""The exact cost of a recording under a profile and a time-out, found by sorting its gaps once."""
