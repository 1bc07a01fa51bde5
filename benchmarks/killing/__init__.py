"""Parts of `benchmarks/chaos.py` and `benchmarks/soak.py`."""
