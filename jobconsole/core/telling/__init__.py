"""How it is told: the projections and words of all front ends (SPEC 6, 9, 10)."""
