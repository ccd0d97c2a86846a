"""Arrays in, arrays out: one file for each mathematical operation; nothing is checked here."""
