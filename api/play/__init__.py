"""The gateway: an ASGI application beside Django for a bot's own calls and for spectators.

`app` routes and answers the calls, and `requests` implements HTTP. `watching` answers spectators.
`moves` answers moves, `bodies` checks them, and `move_queue` makes them in groups. `turn_waiters`
and `spectators` hold the requests that wait, and `wakeup_listener` wakes them. `threads` runs
queries, `groups` lets requests share them, and `database` has the queries. A waiting request uses
no thread and no database connection.
"""
