"""convlab."""
