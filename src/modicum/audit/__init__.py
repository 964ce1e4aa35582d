"""Exact privacy checks: losses by replay, leaks, and samplers against their distributions.

:func:`check` computes the worst privacy loss of a release over neighbouring data sets and the
branches of its outcome tree; :func:`check_row` does so for a row of the registry and
:func:`joint_loss` for two given data sets. :func:`leaks` compares what an observer of the steps
sees. :func:`needed_delta` is the δ of two mechanisms at an ε. :func:`fit` and :func:`power` test
samplers. All of them take estimators and mechanisms that you wrote: any
:class:`~modicum.runtime.query.Query` around a generator of steps, and any
:class:`~modicum.mechanisms.base.Mechanism`.

>>> import modicum as mo
>>> mo.audit.check(mo.query.count(epsilon=1)).passed
True
"""

from modicum.audit.checking import COUNTS, check, check_row, joint_loss, neighbours, scenarios
from modicum.audit.goodness import fit, power
from modicum.audit.report import AuditReport, Leak, Path, StepReport
from modicum.audit.step import needed_delta
from modicum.audit.trail import leaks

__all__ = [
    "COUNTS",
    "AuditReport",
    "Leak",
    "Path",
    "StepReport",
    "check",
    "check_row",
    "fit",
    "joint_loss",
    "leaks",
    "needed_delta",
    "neighbours",
    "power",
    "scenarios",
]
