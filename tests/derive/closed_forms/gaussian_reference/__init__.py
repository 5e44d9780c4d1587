"""Gaussian expectations of functions written here, by composite Gauss-Legendre rules split at every kink.

Nothing of netsor is used, neither functions nor rules.
"""
