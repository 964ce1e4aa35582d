"""Where the data are: bounds that are found, and what is summed between them."""
