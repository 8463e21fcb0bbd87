"""Needs more than NumPy."""
