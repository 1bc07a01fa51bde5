"""The league: what is stored, and who may change it."""
