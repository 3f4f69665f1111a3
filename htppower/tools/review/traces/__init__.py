"""The content of a trace as a report: text, JSON, a page and a picture. ``tuning/traces`` reads and measures."""
