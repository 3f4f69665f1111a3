"""Calibration: what can be measured of a device model, measured on the device."""
