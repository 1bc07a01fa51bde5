"""The arena: bots play blocks of matches at home, as the league would have them play, on all cores.

`contestants` says who plays, `trials` and `swaps` what is played and what came of it, `matches`
plays one match, `pool` and `worker` do so in many processes, `figures` are the statistics and
`replay` shows a match. Files are run as Python runs them, with nothing around them; who wants the
server's sandbox runs ``twelfth-night check``.
"""
