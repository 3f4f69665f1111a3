"""The checks of the rules of advice, by subject. Each reports what it found, or the numbers that show nothing."""
