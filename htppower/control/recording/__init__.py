"""Recordings: what the inferences of a controller were, in a file, for ``htppower trace`` and ``htppower tune``.

May import what ``control`` may; of its rooms: core, learning, time and files.

``ring`` keeps what an inference leaves behind at its end, until ``trace_writer`` has made ``trace_lines`` of it in
``trace_files``. ``background_writer`` has that done in the background. ``recorder`` is what a controller has of
recordings, and ``recording`` the handle of one.
"""
