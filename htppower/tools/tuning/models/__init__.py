"""Device models: what calls, clocks, polling and idling cost on a device, each value with its source."""
