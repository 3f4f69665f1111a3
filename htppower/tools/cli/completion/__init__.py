"""``htppower completion``: the completions of a shell after ``htppower``."""
