"""Parts of `benchmarks/fuzz_forms.py`."""
