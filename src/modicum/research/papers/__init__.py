"""The algorithms of four papers, corrected: one file a paper, in the paper's order.

The functions that release make queries, like those of :mod:`modicum.query`: a
:class:`modicum.Curator` answers them with ``run``, and charges their cost before the first draw. An
algorithm that the library uses by default is named here and not repeated. docs/research/papers.md
has the same table, with the differences from the texts and their reasons: as printed, the
algorithms are not private in a dozen places.

=================================  ==================================  ===================
algorithm                          name                                proof page
=================================  ==================================  ===================
Dick et al. 2023, Algorithm 1      ``kulesza2023.shifted_mean``        bounded_mean
Dick et al. 2023, Algorithm 2      ``dick2023.threshold``              subset_mean
Dick et al. 2023, Algorithm 3      ``dick2023.subset_mean``            subset_mean
Dick et al. 2023, Algorithm 4      ``dick2023.subset_monotone``        locations
Dick et al. 2023, Algorithm 5      ``asi2020.inverse_sensitivity``     level_sets
Kulesza et al. 2023, Algorithm 1   ``kulesza2023.independent_mean``    bounded_mean
Kulesza et al. 2023, Algorithm 2   ``kulesza2023.shifted_mean``        bounded_mean
Kulesza et al. 2023, Algorithm 3   ``kulesza2023.transformed_mean``    bounded_mean
Kulesza et al. 2023, a remark      ``kulesza2023.staircase_mean``      bounded_mean
Huang et al. 2021, PrivQuant       ``huang2021.private_quantile``      private_quantile
Huang et al. 2021, clipped mean    ``huang2021.clipped_mean_vector``   clipped_mean_vector
Huang et al. 2021, shifted mean    ``huang2021.shifted_mean_vector``   shifted_mean_vector
Huang et al. 2021, public n        ``huang2021.exchange_mean_vector``  shifted_mean_vector
Asi and Duchi 2020, (M.1)          ``asi2020.inverse_sensitivity``     level_sets
Asi and Duchi 2020, (M.2)          ``asi2020.vector_statistic``        radial
Asi and Duchi 2020, (4)            ``asi2020.gradient``                gradient
Asi and Duchi 2020, Algorithm 2    ``asi2020.LeadingDirection``        radial
Asi and Duchi 2020, Algorithm 3    ``asi2020.gradient_regression``     gradient
Asi and Duchi 2020, Lemma 4.1      ``asi2020.trimmed_mean``            trimmed_mean
=================================  ==================================  ===================
"""
