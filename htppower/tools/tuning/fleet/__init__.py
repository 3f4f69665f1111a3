"""One sustain time for many devices: counts the gaps of many trace files, in one process, several, or on Dask."""
