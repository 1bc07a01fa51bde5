"""The REST API, for programs: thin views over `league`."""
