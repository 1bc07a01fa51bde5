"""The archive: which rounds have their records in a file."""

from collections.abc import Mapping

from django.db import models

from league import archive_files


class RoundArchive(models.Model):
    """The file with the records of a round's matches; the packs are no longer in their rows."""

    round = models.OneToOneField("Round", models.PROTECT, primary_key=True, related_name="archive")
    file = models.CharField(max_length=200, help_text="Its name in the storage of the archive.")
    sha256 = models.CharField(max_length=64, help_text="SHA-256 of the bytes of the file, in hex.")
    size = models.PositiveBigIntegerField(help_text="Bytes of the file.")
    matches = models.PositiveIntegerField()
    archived_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return self.file

    def packs(self) -> Mapping[int, bytes]:
        """Return the packs by the ids of the matches.

        Raises:
            ArchiveError: the file is missing or damaged.
        """
        return archive_files.packs(self.file, self.sha256)

    def pack_of(self, match_id: int) -> bytes:
        """Return the pack of a match.

        Raises:
            ArchiveError: the file is missing or damaged, or it does not have the match.
        """
        found = self.packs().get(match_id)
        if found is None:
            raise archive_files.ArchiveError(
                f"the archive file {self.file} has no match {match_id}"
            )
        return found
