"""PettingZoo environments (``pip install twelfth-night[rl]``), and the numbers that they show.

- `twelve_days_v0`: ``env()`` takes a choice after the other, ``parallel_env()`` all at once.
- `partridge_v0`: ``env()``.
- `encoding`: an observation as numbers and a mask, in plain Python, so that a bot that was trained
  here sees the same at the league.

Nothing is imported from here: the sandbox has no NumPy, and `encoding` is to work there.
"""
