"""The sandbox that uploaded bots are run in: it knows neither Django nor the league.

`canary.proven_jail` finds the strongest jail that this machine can set up and proves it,
`sources.read_source` takes an upload, and `session.BotProcess` runs it as a player of
`engine.referee`. ``docs/sandbox.md`` tells what each layer stops.
"""
