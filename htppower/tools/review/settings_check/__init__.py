"""The check of a host's own settings: breaches of the rules SET-... in options, configurations and command lines."""
