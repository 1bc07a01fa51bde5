"""Blocks and ratings: who sits where, what a result is worth, and what a rating becomes."""
