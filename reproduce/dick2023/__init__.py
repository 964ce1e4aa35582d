"""Dick, Kulesza, Sun and Suresh 2023: Subset-based instance optimality in private estimation."""
