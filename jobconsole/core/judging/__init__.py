"""From the bytes of one answer to an observation, by the contract (CONTRACT.md, order of evaluation)."""
