"""What a study shows: reads the store, returns records."""
