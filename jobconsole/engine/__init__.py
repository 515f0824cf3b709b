"""The engine: turns the core's decisions into requests and durable records, through the seams of `protocols.py`."""
