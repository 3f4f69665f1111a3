"""Two measurements side by side: where they differ, what makes them hard to compare, what to try."""
