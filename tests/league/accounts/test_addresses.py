"""The address of a client behind proxies."""

import pytest
from django.core.exceptions import ImproperlyConfigured
from pytest_django import Settings

from config import environment
from league.accounts.throttles import client_by_address


@pytest.fixture
def proxies(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXIES", "10.0.0.0/8, 192.0.2.7,2001:db8::/32")
    settings.TRUSTED_PROXIES = environment.networks("PROXIES")


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "client"),
    [
        ("198.51.100.1", "", "198.51.100.1"),
        ("198.51.100.1", "203.0.113.5", "198.51.100.1"),
        ("", "203.0.113.5", "203.0.113.5"),
        ("10.0.0.1", "203.0.113.5", "203.0.113.5"),
        ("10.0.0.1", "1.2.3.4, 203.0.113.5", "203.0.113.5"),
        ("", "1.2.3.4, 203.0.113.5, 192.0.2.7,10.9.9.9", "203.0.113.5"),
        ("", "1.2.3.4, 203.0.113.5, 192.0.2.8,10.9.9.9", "192.0.2.8"),
        ("10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"),
        ("10.0.0.1", "", "10.0.0.1"),
        ("10.0.0.1", "nonsense", "10.0.0.1"),
        ("10.0.0.1", "203.0.113.5, nonsense", "10.0.0.1"),
        ("::ffff:10.0.0.1", "203.0.113.5", "203.0.113.5"),
        ("", "2001:db9:1:2:3::4", "2001:db9:1:2::/64"),
    ],
)
def test_the_client_is_the_last_hop_that_is_no_trusted_proxy(
    proxies: None, peer: str, forwarded_for: str, client: str
) -> None:
    assert client_by_address(peer, forwarded_for) == f"ip:{client}"


def test_clients_behind_another_proxy_have_limits_of_their_own(proxies: None) -> None:
    found = {client_by_address("", f"203.0.113.{number}, 192.0.2.7") for number in range(9)}
    assert len(found) == 9


@pytest.mark.parametrize("value", ["1", "10.0.0.0/33", "10.0.0.1/8", "proxy.example"])
def test_a_value_that_is_no_range_is_named(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROXIES", value)
    with pytest.raises(ImproperlyConfigured, match="PROXIES must list addresses or ranges"):
        environment.networks("PROXIES")
