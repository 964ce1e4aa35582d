"""Statistics through a shuffler, who is trusted with anonymity and with nothing else.

:func:`split_sum` and :func:`mean_vector` are almost as exact as a curator. Messages of
:mod:`modicum.local` may be shuffled too: :func:`amplified` computes what they guarantee then.

>>> from modicum import shuffle
>>> shuffle.split_sum(within=(0, 1), epsilon=1, clients=10_000).shares
11
"""

from modicum.shuffle.amplification import amplified, local_epsilon
from modicum.shuffle.mean_vector import MeanVector, mean_vector
from modicum.shuffle.shuffler import Shuffler
from modicum.shuffle.sum import Sum, SumBatch, SumEstimate, analysed, split_sum
from modicum.shuffle.vector_session import VectorBatch, VectorServer

__all__ = [
    "MeanVector",
    "Shuffler",
    "Sum",
    "SumBatch",
    "SumEstimate",
    "VectorBatch",
    "VectorServer",
    "amplified",
    "analysed",
    "local_epsilon",
    "mean_vector",
    "split_sum",
]
