"""Recipes: packaged studies that reproduce published ones."""
