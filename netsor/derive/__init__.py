"""The third reading of a program: its limit as formulas."""
