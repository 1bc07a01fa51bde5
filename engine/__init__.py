"""The pure core: rules, deals, records and the referee, on the standard library alone.

Rules, deals, records, referee and ratings know no clock, database, network or randomness but
what they are given, so the league's referee, a bot author's arena and a stranger who checks a
result run the same code. Only the command line and its bench look at the time.
``docs/architecture.md`` tells how the parts fit.
"""
