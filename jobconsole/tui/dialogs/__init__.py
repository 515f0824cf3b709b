"""Dialogs: modal screens that ask for what an option needs before it is chosen, and give it back or nothing."""
