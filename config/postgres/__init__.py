"""Django's PostgreSQL backend, but for how a kept connection is looked at; see `base`."""
