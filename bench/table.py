"""One line a figure: what was measured, the figure, its target and whether it was met."""
import math


class Table:
    def __init__(self):
        self.missed = 0

    def title(self, text):
        print(f"\n{text}", flush=True)

    def say(self, name, figure, unit, most=None):
        """A figure; `most` is the target that it must not exceed."""
        line = f"  {name:<58} {round_figure(figure):>10} {unit:<6}"
        if most is not None:
            met = figure <= most
            self.missed += not met
            line += f" at most {round_figure(most):>7}  {'met' if met else 'MISSED'}"
        print(line.rstrip(), flush=True)

    def skip(self, text):
        print(f"  {text}", flush=True)


def round_figure(figure):
    if isinstance(figure, int):
        return f"{figure:,}"
    return f"{figure:.2f}" if abs(figure) < 100 else f"{figure:.0f}"


def exponent(small, large, factor):
    """How fast a figure grows: 1 is in proportion to the input."""
    return math.log(large / small) / math.log(factor)
