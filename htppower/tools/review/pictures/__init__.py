"""The picture of a dry run as SVG: lanes of votes over time, strips of settings, marks of calls, and a legend."""
