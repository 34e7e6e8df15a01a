"""Rules: each module looks at one subject of a LOG."""
