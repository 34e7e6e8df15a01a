"""Packaged studies that reproduce published ones."""
