"""The commands of ``twelfth-night``, one module for each subject; `bots_sdk.cli` lists them."""
