"""The pure core: values in, values out. No clock, no randomness, no ids made inside, no I/O."""
