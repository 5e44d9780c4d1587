"""Derivations as text, Markdown, LaTeX and JSON."""
