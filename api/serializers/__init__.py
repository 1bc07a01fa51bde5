"""The JSON objects of the API, one module for each subject."""
