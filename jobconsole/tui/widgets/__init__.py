"""Widgets of the dashboard: they draw what the feed holds, and say in messages what a person did."""
