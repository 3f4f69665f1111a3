"""What every report is made of: blocks, the forms that draw them, words for numbers, and charts. May import errors."""
