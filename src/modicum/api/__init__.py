"""What a user calls: curators, groups, and questions that are asked alone."""
