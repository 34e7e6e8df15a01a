"""Models and statistics on plain arrays: they know factors and outcomes, not knobs or stores."""
