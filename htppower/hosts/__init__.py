"""Inference hosts: wrappers around a runtime's session that send votes around its inferences.

May import control, runtimes and what control may.
"""
