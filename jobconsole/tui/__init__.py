"""The operators' dashboard: a Textual program over one desk. `cli/launch.py` alone starts it."""
