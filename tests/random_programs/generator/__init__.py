"""Random programs, the comparison of their readings, and the smallest program for which these disagree."""
