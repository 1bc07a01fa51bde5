"""For bot authors: the reference bots, and the tools to write, try and run bots of your own."""
