"""The author's check: a bot in the server's sandbox, through all that can happen to it there.

`loading` looks before any match and `suite` at all of them; `findings` are what is told. `imports`
looks for modules that are not there, `players` are the ways in which a bot is asked, and
`unconfined` runs it without a sandbox where none can be set up and the author says so.
"""
