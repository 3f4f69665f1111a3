"""What is found by tuning, as text, JSON and a page."""
