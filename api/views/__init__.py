"""The calls of the API, one file a subject."""
