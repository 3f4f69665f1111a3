"""``htppower diff``: what a change of profiles does, in one of several formats."""
