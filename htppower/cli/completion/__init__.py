"""``htppower completion``: what a shell completes behind ``htppower``."""
