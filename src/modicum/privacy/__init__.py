"""Who is protected, what a release costs, and how costs add up. All arithmetic is exact."""
