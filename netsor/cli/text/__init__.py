"""A limit as text for a reader: no numbers are computed here that the result does not hold."""
