"""Long-term memory: what is remembered of each person beyond a thread, and owned by them.

Read `memory.py` (what a memory is), `access.py` (who may reach which), then `store.py` (where they are kept). What a person says becomes
`candidate.py`'s candidates, which `reconcile.py` compares with what is known; `memories.py` is the one door through which everything else
in the product adds, recalls, changes and deletes.
"""
