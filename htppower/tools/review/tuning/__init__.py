"""The results of tuning, as text, JSON and a page."""
