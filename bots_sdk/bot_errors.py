"""The error of a file that is not a bot, apart from `bots_sdk.bot`, which loads the engine."""


class BotFileError(Exception):
    """A file is not a bot; the message names the file and a remedy."""
