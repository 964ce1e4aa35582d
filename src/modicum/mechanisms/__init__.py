"""Output laws: each is one frozen record with its exact probabilities and its exact sampler."""
