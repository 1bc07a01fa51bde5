"""The requests that wait: a small ASGI application beside Django, for thousands of them at once.

`app` says who is answered what, `requests` speaks HTTP; `turns` and `matches` know who waits for
what; `hints` is how this process hears that something happened; `database` is where threads are
used. A waiting request holds no thread and no database connection.
"""
