"""What is compared if nothing else is said."""

WIDTHS = (16, 64, 256, 1024)
RUNS = 50_000
LEAST_RUNS = 100
"""Fewer give errors that mean nothing."""

LEVEL = 1e-4
"""The probability that anything at all is called off though the limit is right."""
