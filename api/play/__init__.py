"""The gateway: an ASGI application beside Django for a bot's own calls and for spectators.

`app` routes and answers the calls, `requests` implements HTTP, `turn_waiters` and `spectators` hold
the requests that wait, `hints` wakes them, and `database` runs queries in threads. A waiting
request uses no thread and no database connection.
"""
