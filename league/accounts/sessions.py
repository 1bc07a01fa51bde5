"""Sessions of people on the pages."""

from datetime import datetime

from django.contrib.sessions.models import Session


def sweep(now: datetime) -> int:
    """Delete the sessions that are over; return their number.

    Django deletes a session only if its person signs out. All others would stay for ever.
    """
    return Session.objects.filter(expire_date__lt=now).delete()[0]
