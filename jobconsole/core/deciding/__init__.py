"""What follows from an observation, and what a person may choose (SPEC 3, 6, 14)."""
