"""Faults that the quick tests must notice: ``make mutants`` plants one after the other."""

from tests.mutants.bulk import FAULTS as BULK
from tests.mutants.data import FAULTS as DATA
from tests.mutants.fault import Fault
from tests.mutants.laws import FAULTS as LAWS
from tests.mutants.privacy import FAULTS as PRIVACY
from tests.mutants.protocols import FAULTS as PROTOCOLS
from tests.mutants.publishing import FAULTS as PUBLISHING
from tests.mutants.samplers import FAULTS as SAMPLERS
from tests.mutants.schedules import FAULTS as SCHEDULES
from tests.mutants.statistics import FAULTS as STATISTICS
from tests.mutants.tables import FAULTS as TABLES

FAULTS: tuple[Fault, ...] = (
    *SAMPLERS,
    *LAWS,
    *PRIVACY,
    *DATA,
    *PROTOCOLS,
    *PUBLISHING,
    *STATISTICS,
    *SCHEDULES,
    *TABLES,
    *BULK,
)
