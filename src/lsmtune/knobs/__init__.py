"""The options of the engines: their catalogue, the rules between them, the space they span."""
