"""Blocks, pair results, ratings and the statistics made of them; pure functions."""
