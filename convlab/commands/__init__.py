"""The sub-commands of ``convlab``, one a file."""
