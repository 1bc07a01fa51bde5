"""For bot authors: the house bots, and the tools to write, try and run bots of your own."""
