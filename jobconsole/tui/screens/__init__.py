"""Screens of the dashboard; `modes.py` names those that a tab leads to."""
