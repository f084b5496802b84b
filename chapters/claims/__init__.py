"""What the sources assert, what would decide it, and what the notebooks found.

The registry (``book/claims.yml``) holds one row per claim, with checks that were committed before anything was
computed. A notebook cell records the numbers in one line, ``record("P1.02", gap=1e-15)``; ``collect`` reads them back
from executed notebooks and applies the verdict rule.
"""

from chapters.claims.evidence import record as record
