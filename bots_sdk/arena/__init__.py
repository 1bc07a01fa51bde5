"""The arena plays blocks of matches on your machine, on all cores, as the league plays them.

- `contestants`: the bots that play.
- `trials`: a bot against opponents; `swaps`: a new version against the old one.
- `matches` plays one match; `pool` and `worker` play matches in many processes.
- `figures`: the statistics; `replay`: a match as text.

Bots run without a sandbox here. ``twelfth-night check`` runs a bot in the league's sandbox.
"""
