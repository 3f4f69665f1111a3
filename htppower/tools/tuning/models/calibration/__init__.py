"""Calibration: measures the values of a device model on the device."""
