"""What a provider contract says, and the requests that it describes (SPEC 2, CONTRACT.md)."""
