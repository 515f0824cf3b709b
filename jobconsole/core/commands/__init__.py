"""The commands: pure functions that a store runs while its lock is held (STORE 5).

`submission` starts records, `claims` and `action_answers` own actions, `reservation` takes leases, `recording` judges
answers, `decisions` and `effects` apply what people choose, `transitions` holds the changes of phase that several of them
share.
"""
