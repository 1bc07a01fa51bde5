"""Bots as WebAssembly modules, in any language that compiles to it.

- `binary` checks a module's imports and exports, without compiling or running it.
- `machine` runs a module with bounded memory and a clock that counts instructions (*fuel*).
- `bot` plays a module at home; in the league, the sandbox runs it.
- `proving` computes again what each move of a played match cost.

docs/reference/webassembly.md is the contract between a module and the league.
"""
