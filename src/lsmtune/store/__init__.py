"""The one truth: studies, trials and verifications in SQLite, and their evidence beside it."""
