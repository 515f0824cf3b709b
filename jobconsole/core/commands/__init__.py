"""The commands: pure functions that a store runs while its lock is held (STORE 5).

`submission` starts records, `claims` owns actions, `reservation` takes leases, `recording` judges answers, `decisions` applies what
people choose, `transitions` holds the changes of phase that several of them share.
"""
