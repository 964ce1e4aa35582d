"""Output laws: each is one frozen record with its exact probabilities and its exact sampler.

``base`` has what every law answers, ``support`` what two laws differ by. ``additive`` is integer
noise, ``bounded_mean`` what it and a staircase make of a sum and a count. ``exponential`` is the
exponential mechanism, ``scores`` what it chooses by, ``level_sets`` the score of an inverse
sensitivity, and ``grids`` are public candidates. ``selection`` chooses radii,
``partition_selection`` keys. ``quantile_tree`` and ``joint_quantiles`` are laws of several
quantiles, the latter drawn with a ``quantile_chain``. ``norm_ball`` is a law around a vector,
``subsampled`` any law on a secret sample, ``window_response`` one person's answer.
"""
