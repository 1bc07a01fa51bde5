"""The two games: `twelve_days`, `partridge`, what they share (`game`) and how to find them."""
