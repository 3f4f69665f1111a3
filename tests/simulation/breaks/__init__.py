"""The small breaks of the core that the simulation must find, by subject."""

from __future__ import annotations

from simulation.breaks.casting import CASTING
from simulation.breaks.claims import CLAIMS
from simulation.breaks.given_again import GIVEN_AGAIN
from simulation.breaks.learning import LEARNING
from simulation.breaks.phases import PHASES
from simulation.breaks.recovering import RECOVERING
from simulation.breaks.settling import SETTLING
from simulation.breaks.varied import VARIED

MUTATIONS = (*PHASES, *SETTLING, *RECOVERING, *CASTING, *GIVEN_AGAIN, *CLAIMS, *LEARNING, *VARIED)
