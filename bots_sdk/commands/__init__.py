"""The commands of ``twelfth-night``, one module for each subject; `bots_sdk.cli` lists them.

All of them use `errors` (error lines and exit statuses), `output` (JSON and tables) and
`help_pages`.
"""
