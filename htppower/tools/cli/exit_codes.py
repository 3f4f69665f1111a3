"""The exit codes of the command."""

# A rule refuses. All other failures have the code 2, like a usage error.
REFUSED = 1
INVALID = 2
# The code of a shell after Ctrl-C.
INTERRUPTED = 130
