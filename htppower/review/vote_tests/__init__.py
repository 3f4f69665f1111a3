"""Vote tests: expected states and votes in YAML beside the profiles, run through the real controller."""
