"""A trained bot: its file, its training, and the weights for each game."""
