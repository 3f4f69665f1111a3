"""Inference hosts: wrappers around a runtime's session that send votes around its inferences.

May import client, control and what control may.
"""
