"""The Django project: settings, addresses, WSGI and Celery. It holds no rules.

The Celery application is loaded with it, so that every process can queue tasks.
"""

from config.celery import app as celery_app

__all__ = ["celery_app"]
