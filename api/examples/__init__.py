"""Examples of the API's calls: a request and the answer of a real league, for schema and page.

``make api-examples`` writes ``calls/``; a test compares these files with a league's answers.
"""
