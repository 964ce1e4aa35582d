"""Statistics without a trusted curator: everybody randomises on their own device.

A protocol is public. Each :class:`Client` answers one round of it with one draw from an exact
mechanism, as bytes; the :class:`Server` checks, collects and estimates.

>>> from modicum import local
>>> protocol = local.mean(within=(-1e6, 1e6), epsilon=1)
>>> client = local.Client(protocol)
>>> client.spent
pure('0')
"""

from modicum.protocols.local.histogram import Distribution, Histogram, histogram
from modicum.protocols.local.mean import Mean, MeanEstimate, mean
from modicum.protocols.local.mean_vector import MeanVector, VectorEstimate, mean_vector
from modicum.protocols.local.parties import Batch, Client, Server, Tally, from_json

__all__ = [
    "Batch",
    "Client",
    "Distribution",
    "Histogram",
    "Mean",
    "MeanEstimate",
    "MeanVector",
    "Server",
    "Tally",
    "VectorEstimate",
    "from_json",
    "histogram",
    "mean",
    "mean_vector",
]
