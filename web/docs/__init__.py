"""The documents of `docs/`, served as pages under `/docs/`."""
