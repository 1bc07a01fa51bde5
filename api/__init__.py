"""The REST API, for programs: thin views over what `league` knows and does."""
