"""The intermediate representation: programs as whole families over index sets, and the scalar language they are written in."""
