"""Mechanisms: each is one frozen record with its exact probabilities and its exact sampler.

``base`` has the questions that every mechanism answers about itself, and the differences of two of
them. ``additive`` is integer noise and ``staircase`` its form with steps. ``exponential`` is the
exponential mechanism, ``scores`` are its scores, ``level_sets`` that of an inverse sensitivity, and
``grids`` are public candidates. ``selection`` chooses radii, ``partition_selection`` keys.
``quantile_tree`` and ``joint_quantiles`` draw several quantiles, the latter by proposals from
``quantile_bands``. ``norm_ball`` draws around a vector, ``subsampled`` applies any mechanism to a
secret sample, ``window_response`` is one person's answer.
"""
