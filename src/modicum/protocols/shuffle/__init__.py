"""Statistics through a shuffler, who is trusted with anonymity and with nothing else.

:func:`split_sum` and :func:`mean_vector` are almost as exact as a curator. :func:`histogram` and
:func:`mean` shuffle single messages of :mod:`modicum.protocols.local`, the simple choice:
:func:`amplified` computes what they guarantee then.

>>> from modicum import shuffle
>>> shuffle.split_sum(within=(0, 1), epsilon=1, clients=10_000).shares
11
"""

from modicum.protocols.shuffle.mean_vector import MeanVector, VectorBatch, VectorServer, mean_vector
from modicum.protocols.shuffle.shuffler import Shuffler
from modicum.protocols.shuffle.single import Single, amplified, histogram, local_epsilon, mean
from modicum.protocols.shuffle.sum import Sum, SumBatch, SumEstimate, analysed, split_sum

__all__ = [
    "MeanVector",
    "Shuffler",
    "Single",
    "Sum",
    "SumBatch",
    "SumEstimate",
    "VectorBatch",
    "VectorServer",
    "amplified",
    "analysed",
    "histogram",
    "local_epsilon",
    "mean",
    "mean_vector",
    "split_sum",
]
