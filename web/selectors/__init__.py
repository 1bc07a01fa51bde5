"""Rows for the pages, by subject; the number of queries does not grow with the data.

Numbers that the API shows too come from the same functions in `league`.
"""
