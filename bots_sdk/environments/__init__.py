"""PettingZoo environments (the extra ``rl`` of the package), and their encoding.

- `twelve_days_v0`: ``env()`` takes one choice after the other, ``parallel_env()`` all at once.
- `partridge_v0`: ``env()``.
- `batched`: many matches at once, with NumPy arrays in and out; `compact` is its encoding.
- `encoding`: an observation as numbers and a mask, in plain Python, so that a trained bot gets the
  same numbers at the league.

This module imports nothing, so that `encoding` needs no other package: without NumPy a bot starts
faster.
"""
