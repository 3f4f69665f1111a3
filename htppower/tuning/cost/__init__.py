"""What a recording costs under a profile and a time-out: exact, by sorting its gaps once."""
