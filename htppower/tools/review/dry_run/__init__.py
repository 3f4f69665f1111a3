"""Dry runs: a workload through the real controller, on the recorder over the simulated HTP, in virtual time."""
