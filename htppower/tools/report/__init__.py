"""The parts of every report: blocks, the forms that draw them, words for numbers, and charts. May import errors."""
