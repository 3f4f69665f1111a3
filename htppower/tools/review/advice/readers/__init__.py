"""The readers, one for each format. Each turns a profiler's file into ``Measurement`` values, or reports its fault."""
