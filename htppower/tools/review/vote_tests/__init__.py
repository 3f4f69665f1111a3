"""Vote tests: expected states and votes in YAML next to the profiles, run through the real controller."""
