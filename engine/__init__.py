"""The pure core: rules, deals, records and the referee, on the standard library alone.

Nothing here knows a clock, a database, a network or any randomness but the seed that it is
given, so the league's referee, a bot author's arena and a stranger who checks a result run
the same code. ``docs/architecture.md`` tells how the parts fit.
"""
