"""Makes openskill.json beside it: matches as openskill.py's BradleyTerryFull rates them.

    python3 -m venv venv && venv/bin/pip install openskill==6.2.0
    venv/bin/python make_openskill.py > openskill.json
"""

import json
import random
from importlib.metadata import version

from openskill.models import BradleyTerryFull

SEED = 8
CASES = 1000
# Sides by their sizes: all that the game has, and sides of different sizes, which it has not.
FORMS = (
    [[1] * seats for seats in range(2, 7)]
    + [[2, 2], [2, 2, 2], [3, 3]]
    + [[1, 2], [2, 1, 1], [3, 1, 2], [1, 1, 1, 3], [1, 5]]
)


def ranks(dice, sides):
    """Places from 1 as the rules give them (1, 1, 3): some level, some all level."""
    points = [dice.randrange(dice.choice([1, 2, 3, 100])) for _ in range(sides)]
    return [1 + sum(other > own for other in points) for own in points]


def case(dice, number):
    settings = {"beta": 4.1667, "kappa": 0.0001, "tau": 0.0833}
    if number % 2:
        settings = {
            "beta": round(dice.uniform(0.5, 12), 3),
            "kappa": round(10 ** dice.uniform(-4, -1), 6),
            "tau": round(dice.uniform(0, 1), 3),
        }
    form = FORMS[number % len(FORMS)]
    before = [[[round(dice.gauss(25, 9), 3), round(dice.uniform(0.3, 12), 3)] for _ in range(size)] for size in form]
    places = ranks(dice, len(form))
    model = BradleyTerryFull(**settings)
    teams = [[model.rating(mu=mu, sigma=sigma) for mu, sigma in side] for side in before]
    after = model.rate(teams, ranks=places)
    digits = lambda number: float(f"{number:.13g}")
    return {
        **settings,
        "ranks": places,
        "before": before,
        "after": [[[digits(rating.mu), digits(rating.sigma)] for rating in side] for side in after],
    }


def main():
    dice = random.Random(SEED)
    cases = [json.dumps(case(dice, number), separators=(",", ":")) for number in range(CASES)]
    print(f'{{"openskill":"{version("openskill")}","model":"BradleyTerryFull","seed":{SEED},"cases":[')
    print(",\n".join(cases))
    print("]}")


main()
