"""The frozen records that a user gets, and what is said of them."""
