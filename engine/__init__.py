"""The pure core: rules, deals, records and the referee, on the standard library alone.

Rules, deals, records, referee and ratings use no clock, database, network or random source except
those that a caller passes in. So the league's referee, a bot author's arena and a stranger who
checks a result run the same code. Only the command line and its bench read the time.
``docs/architecture.md`` describes how the parts fit together.
"""
