"""The two games `twelve_days` and `partridge`, their shared base `game`, `events`, `catalogue`."""
