"""``htppower status``: what a controller in another process has in force."""
