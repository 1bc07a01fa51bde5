"""The sandbox in which uploaded bots run; it depends on neither Django nor the league.

`canary.proven_jail` finds the strongest jail that works on this machine and proves it.
`sources.read_source` reads an upload, and `session.BotProcess` runs it as a player of
`engine.referee`. ``docs/sandbox.md`` describes each layer.
"""
