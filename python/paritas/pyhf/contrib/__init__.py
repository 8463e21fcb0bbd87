"""What needs more than NumPy."""
