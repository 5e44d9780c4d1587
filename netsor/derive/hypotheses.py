"""What a derivation takes for granted, in words."""

from __future__ import annotations

from netsor.ir.program import Score
from netsor.limit.fresh_factor import Together


def hypotheses(derivation) -> list[str]:
    """One sentence for each hypothesis."""
    program, analysis = derivation.program, derivation.analysis
    found = []
    theorem = analysis.theorem
    found.append(f"{'Theorem' if theorem.proved else 'Extension'}: {theorem.name}" + (f" ({theorem.reason})" if theorem.reason else ""))
    if program.matrices:
        found.append(f"Entries of matrices are iid Gaussian, matrices and inputs independent of each other; {program.width} → ∞ "
                     "with everything else fixed")
    for family in analysis.program.families:
        if isinstance(family.definition, Score) and family in analysis.needed_scores():
            factor = analysis.fresh.of(family)
            if isinstance(factor, Together):
                names = " and ".join(dict.fromkeys(str(source.owner) for source in factor.sources))
                found.append(f"{family.label} has the fresh factor {names} together: its summands are odd in them")
            elif factor is not None:
                found.append(f"{family.label} has the fresh factor {factor.owner}: its summands are odd in it")
    numbers = {name: value for name, value in program.parameters.items() if value is not None}
    settled = [f"{name} = {'∞' if value == float('inf') else value}" for name, value in numbers.items()]
    if settled:
        found.append(f"{', '.join(settled)} as a number: set, or the structure of the program depends on it")
    return found
