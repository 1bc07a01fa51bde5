"""Uploaded bots: how their code is run."""
