"""Dry runs: the real controller on the recorder over the simulated HTP, in virtual time, and what it did."""
