"""Addresses of a league on this machine."""

EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}
"""Hosts that stand for every address of this machine, and its own address among them."""


def allowed_hosts(host: str) -> str:
    """Return ALLOWED_HOSTS for a front that is bound to a host.

    A front that is bound to every address can be reached by all names of the machine. This list
    can't have them all, so it allows any name.
    """
    if host in EVERYWHERE:
        return "*"
    return ",".join(dict.fromkeys(["localhost", "127.0.0.1", "[::1]", in_url(host)]))


def address(host: str, port: int) -> str:
    """Return the URL by which this machine reaches a front that is bound to a host."""
    return f"http://{in_url(EVERYWHERE.get(host, host))}:{port}/"


def in_url(host: str) -> str:
    """Return a host as URLs write it."""
    return f"[{host}]" if ":" in host else host
