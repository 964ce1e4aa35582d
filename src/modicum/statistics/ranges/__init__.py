"""Where the data are: how a budget is divided, bounds that are found, what is summed between."""
