"""The check of a bot in the league's sandbox, on its author's machine.

- `loading` checks the source before any match; `imports` finds modules that the sandbox lacks.
- `suite` plays matches of every match type; `players` imitates the league's failures in them.
- `findings` are the results.
- `runtimes` starts the bots in the sandbox; `unconfined` starts them without one.
"""
