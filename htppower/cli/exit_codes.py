"""The exit codes of the command."""

# Refused by a rule; everything else that can't be done is 2, as a usage error is.
REFUSED = 1
INVALID = 2
# As a shell tells of Ctrl-C.
INTERRUPTED = 130
