"""After a test's time limit: new database connections, so that the next tests are not harmed.

pytest-timeout ends a test by an exception inside whatever runs. If that is a query, its
connection still waits for the answer and refuses each later query.
"""

from collections.abc import Generator

import pytest
from django.db import connections


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Close the connections of a test that ran out of time; Django opens them again."""
    report = yield
    if call.excinfo and "from pytest-timeout" in str(call.excinfo.value):
        for connection in connections.all(initialized_only=True):
            connection.close()
    return report
