"""A PostgreSQL backend for Django; `base` lists the differences from Django's own."""
