"""Checked plans to results: lazy Polars in a worker, a SQL twin beside it."""
