"""The readers, a file a format. Each turns a profiler's file into ``Measurement`` values, or says where it is wrong."""
