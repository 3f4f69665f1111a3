"""Inference hosts: wrappers around a runtime's session that send votes around its inferences.

May import control and what control may.
"""
