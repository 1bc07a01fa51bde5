"""Celery's adapter for Django, with database connections that a process keeps between tasks.

Celery's own adapter closes the connection before and after each task. A match would then pay for a
new process of PostgreSQL, which reads the catalogue again: about an eighth of all its CPU time.
"""

from typing import Any

from celery import Celery
from celery.fixups.django import DjangoFixup, DjangoWorkerFixup
from django.db import close_old_connections


class WorkerFixup(DjangoWorkerFixup):  # type: ignore[misc] # Celery has no types
    """Lets each process of a prefork pool keep its connection, as Django does between requests.

    Before a task, a connection that is too old or that the server has closed is closed here too,
    and the task opens a new one. A pool of threads closes connections after each task: it has many
    threads, and most of them rest.
    """

    _keeps = False

    def on_worker_process_init(self, **options: Any) -> None:
        """Drop what the process has from the worker, and keep its own connection from now on."""
        super().on_worker_process_init(**options)
        self._keeps = True

    def close_database(self, **options: Any) -> None:
        """Close connections that the next task should not use."""
        if self._keeps:
            close_old_connections()
        else:
            super().close_database(**options)


class Fixup(DjangoFixup):  # type: ignore[misc]
    """Celery's adapter for Django with this `WorkerFixup`."""

    _worker_fixup: WorkerFixup | None

    @property
    def worker_fixup(self) -> WorkerFixup:
        """The part for workers, which exists once."""
        if self._worker_fixup is None:
            self._worker_fixup = WorkerFixup(self.app)
        return self._worker_fixup

    @worker_fixup.setter
    def worker_fixup(self, value: WorkerFixup) -> None:
        self._worker_fixup = value


def fixup(app: Celery) -> Fixup:
    """Install the adapter in an application."""
    made = Fixup(app)
    made.install()
    return made
