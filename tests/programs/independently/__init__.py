"""Calculations of the numbers that programs/ state, which share nothing with netsor: none of them imports it."""
