"""A certificate as a public league gets it: over ACME, from an authority of the test's network.

The front asks Let's Encrypt by its address, and finds a Caddy that is an ACME server there. It
trusts this authority, because SSL_CERT_FILE names its root. The authority proves the domain as
Let's Encrypt does: it connects to the domain on port 80 or 443.
"""

import ssl

from tests.containers import tls
from tests.containers.engine import CommandError
from tests.containers.league import League, wait_for

DOMAIN = "league.example"
_ROOT = "/var/lib/league/caddy/pki/authorities/local/root.crt"
_STORED = "/var/lib/league/caddy/certificates"


def use_acme(league: League) -> None:
    """Change the domain to one for which Caddy asks an authority; the next ``up`` takes it."""
    league.files.append("tests/containers/acme.yaml")
    league.variables["DOMAIN"] = DOMAIN
    league.compose("up", "--detach", "--wait", "authority")
    wait_for(lambda: _root(league), lambda: "the authority has no certificate")


def check_certificate(league: League) -> None:
    """Check that the front serves a certificate of the authority.

    Raises:
        CommandError: there is none after some minutes.
    """
    trust = ssl.create_default_context(cadata=_root(league))
    tls.get(league, "/api/v1/ladders", trust, DOMAIN)
    stored = league.compose("exec", "-T", "front", "ls", _STORED)
    if "acme-v02.api.letsencrypt.org-directory" not in stored:
        raise CommandError(f"the front's certificates are of {stored}")


def _root(league: League) -> str:
    """Return the root certificate of the authority; empty before there is one."""
    try:
        return league.compose("exec", "-T", "authority", "cat", _ROOT)
    except CommandError:
        return ""
