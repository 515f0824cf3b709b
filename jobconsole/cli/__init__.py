"""The command line. `main.py` imports a command only when it is chosen."""
