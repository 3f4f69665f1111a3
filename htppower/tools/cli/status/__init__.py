"""``htppower status``: the votes in force of a controller in another process."""
