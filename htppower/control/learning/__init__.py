"""What sessions have learnt of their sustain times, kept in a file over a restart of the process.

May import what ``control`` may.

``learnt_file`` reads and writes the file; ``learnt`` has what it holds, and sees to the writing.
"""
