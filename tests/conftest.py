"""Set up all tests: luck, Hypothesis, emptying the database, and skipping without a browser.

HYPOTHESIS_EXAMPLES=5000 searches longer; CI draws the same examples every time.
"""

import os

from hypothesis import settings

from tests.after_timeouts import pytest_runtest_makereport as pytest_runtest_makereport
from tests.emptying import django_db_setup as django_db_setup
from tests.lasting import list_static_files_once as list_static_files_once
from tests.lasting import pytest_collection as pytest_collection
from tests.lasting import pytest_collection_finish as pytest_collection_finish
from tests.luck import pytest_fixture_setup as pytest_fixture_setup
from tests.luck import pytest_runtest_protocol as pytest_runtest_protocol
from tests.luck import pytest_sessionfinish as pytest_sessionfinish
from tests.luck import pytest_sessionstart as pytest_sessionstart
from tests.luck import real_luck as real_luck
from tests.migrated import django_db_modify_db_settings as django_db_modify_db_settings
from tests.without_browser import pytest_collection_modifyitems as pytest_collection_modifyitems
from tests.without_browser import pytest_terminal_summary as pytest_terminal_summary

examples = int(os.environ.get("HYPOTHESIS_EXAMPLES", "30"))

# No deadline: the machine may be shared. Each test still has pytest's timeout.
settings.register_profile("dev", deadline=None, max_examples=examples)
settings.register_profile(
    "ci", deadline=None, max_examples=examples, derandomize=True, print_blob=True
)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
