"""The exit codes of the command."""

# A rule refuses. Everything else that can't be done is 2, like a usage error.
REFUSED = 1
INVALID = 2
# The code that a shell gives after Ctrl-C.
INTERRUPTED = 130
