"""What readability costs."""
