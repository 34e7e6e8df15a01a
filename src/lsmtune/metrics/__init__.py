"""What is measured: the metrics and their units, and the parsers of what engines print."""
