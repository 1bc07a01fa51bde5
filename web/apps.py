"""The Django app of the pages: templates, static files and the admin pages."""

from django.apps import AppConfig


class WebConfig(AppConfig):
    """Pages for people. It stores nothing."""

    name = "web"
    verbose_name = "Pages"
