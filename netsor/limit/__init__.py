"""The limit of a program: the recursion that emits equations, their numeric interpreter, score groups and the laws."""
