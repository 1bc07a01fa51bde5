"""The commands of ``twelfth-night``, a module a subject; `bots_sdk.cli` lists them."""
