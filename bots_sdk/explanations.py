"""Sentences that explain a word: the command line, the pages and the API share them."""

BLOCK = (
    "A block is a set of matches at one table. It has as many matches as the table has seats, so "
    "each bot sits once in each seat."
)
WIN_SHARE = "The win share is the share of opponents that the bot beats. A tie is half a win."
WIN_SHARE_FIELD = (
    "Win share: the share of opponents that the bot beat, from 0 to 1. A tie is half a win."
)
"""The same as the description of a field of the API."""
ELO = "+100 Elo is a win share of 64 %"
"""A clause; with a full stop it is a sentence."""
