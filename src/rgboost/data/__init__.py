"""From the user's X to bins."""
