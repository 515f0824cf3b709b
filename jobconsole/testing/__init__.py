"""Public doubles for tests of jobconsole and of programs that use it: a manual clock, a memory store, and more.

Import the submodule that is needed: nothing is loaded here.
"""
