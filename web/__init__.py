"""Pages for people, rendered by the server."""
