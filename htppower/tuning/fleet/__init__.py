"""One profile for many devices: the gaps of many trace files as counts in bins, read by one process or on Dask."""
