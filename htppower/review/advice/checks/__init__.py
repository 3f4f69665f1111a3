"""The checks of the rules of advice, by subject. Each says what it found, or with numbers why it found nothing."""
