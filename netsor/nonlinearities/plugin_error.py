"""What a file of the user's is at fault for."""


class PluginError(Exception):
    """A plug-in file is at fault; the message says how."""
