"""The engine simulated: the simulator predicts the result of a trial within milliseconds."""
