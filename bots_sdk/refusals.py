"""The error for a file, an archive or a WebAssembly module that can't be a bot."""


class SourceRefusedError(ValueError):
    """An upload is too large, has no bot.py, or is an archive that is not safe to unpack."""
