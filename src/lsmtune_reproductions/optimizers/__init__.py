"""Published optimizers, as their papers describe them."""
