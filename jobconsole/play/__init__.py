"""The play provider: a real HTTP server whose jobs behave as their scenario says."""
