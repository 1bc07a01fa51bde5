"""The Django project: settings, logging, URLs, WSGI and Celery.

The Celery application is imported here, so that every process can queue tasks.
"""

from config.celery import app as celery_app

__all__ = ["celery_app"]
