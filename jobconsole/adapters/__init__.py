"""The adapters: each is the only importer of one library and fulfils one seam of `protocols.py`."""
