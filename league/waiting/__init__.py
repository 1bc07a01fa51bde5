"""The requests that wait: a small ASGI application beside Django, for thousands of them at once.

`app` speaks HTTP, `hub` knows who waits and wakes them, `database` is where threads are used.
A waiting request holds no thread and no database connection.
"""
