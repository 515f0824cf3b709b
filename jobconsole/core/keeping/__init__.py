"""How records and events are kept: lines, chain, documents, what is due, what leaves (STORE.md)."""
