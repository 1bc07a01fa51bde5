"""Runs in a container: proves each way to start bots in both tiers of the sandbox."""

from bots_sdk.sandbox import canary
from bots_sdk.sandbox.jail import jails

found = list(jails())
for each in found:
    canary.prove(each)
ways = sorted((each.tier, each.forks) for each in found)
assert ways == [(1, False), (1, True), (2, False), (2, True)], ways
print("each tier holds")
