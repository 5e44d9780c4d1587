"""From the text of a program to a checked program."""
