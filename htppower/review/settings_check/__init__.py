"""The check of a host's own settings: what breaks the rules SET-... in options, configurations and command lines."""
