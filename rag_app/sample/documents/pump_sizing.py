"""Pump sizing for sales engineers: from a house and a pipe to a model of the MX series.

The formulas are those of the sizing sheet that Merrowdale used until 2019; the friction loss is by Hazen and Williams.
Pressures are in bar, heights in meters, flows in liters per minute. The results are estimates for a first offer: an
installation with more than 20 fixtures, or with a pipe longer than 300 meters, is calculated by the engineering desk.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

BAR_PER_METER = 0.0981
ROUGHNESS = {"copper": 140.0, "polyethylene": 150.0, "galvanized steel": 120.0, "old steel": 100.0}
SAFETY_MARGIN = 1.15
MAX_SUCTION_LIFT = 7.0


class SizingError(ValueError):
    """Raised when no pump of the series can do the job, or when an input makes no sense."""


@dataclass(frozen=True)
class Pump:
    """A pump and the parabola through its test points: head = shutoff_head - curvature * flow ** 2."""

    name: str
    shutoff_head: float
    curvature: float
    max_flow: float

    def head(self, flow: float) -> float:
        """The head in meters at a flow in liters per minute; zero beyond the largest flow."""
        if flow > self.max_flow:
            return 0.0
        return max(0.0, self.shutoff_head - self.curvature * flow**2)


SERIES = (
    Pump("MX-200", shutoff_head=42.0, curvature=0.0041, max_flow=85.0),
    Pump("MX-400", shutoff_head=56.0, curvature=0.0019, max_flow=140.0),
)


def peak_flow(fixtures: int) -> float:
    """The flow, in liters per minute, that a house with this many fixtures draws at its busiest moment.

    The rule of thumb is 9.5 times the square root of the number of fixtures: not all taps are open at once. Fewer than
    one fixture is an error.
    """
    if fixtures < 1:
        raise SizingError(f"a house needs at least one fixture, got {fixtures}")
    return 9.5 * math.sqrt(fixtures)


def friction_loss(flow: float, length: float, diameter: float, material: str = "polyethylene") -> float:
    """The head in meters that is lost in a pipe of this length (meters) and inner diameter (millimeters).

    Hazen and Williams: 10.67 * L * Q^1.852 / (C^1.852 * d^4.87), with Q in cubic meters per second and d in meters.
    """
    if diameter <= 0 or length < 0:
        raise SizingError("the pipe needs a positive diameter and a length that is not negative")
    coefficient = ROUGHNESS[material]
    flow_si = flow / 60_000
    return 10.67 * length * math.pow(flow_si / coefficient, 1.852) / math.pow(diameter / 1000, 4.87)


def required_head(flow: float, lift: float, pressure: float, length: float, diameter: float, material: str) -> float:
    """The head in meters for a lift (meters), a pressure at the tap (bar) and the friction, with a margin of 15 %."""
    friction = friction_loss(flow, length, diameter, material)
    return SAFETY_MARGIN * (lift + pressure / BAR_PER_METER + friction)


def choose_pump(
    fixtures: int,
    *,
    suction_lift: float = 0.0,
    lift: float = 5.0,
    pressure: float = 2.5,
    length: float = 20.0,
    diameter: float = 26.0,
    material: str = "polyethylene",
) -> Pump:
    """The smallest pump whose curve lies above what the house needs.

    Raises SizingError when the water is more than seven meters below the pump, or when even the largest pump is too
    small; in that case two pumps under one FlowKeeper share the load.
    """
    if suction_lift > MAX_SUCTION_LIFT:
        raise SizingError(f"a suction lift of {suction_lift} m is beyond {MAX_SUCTION_LIFT} m; use a submersible pump")
    flow = peak_flow(fixtures)
    head = required_head(flow, suction_lift + lift, pressure, length, diameter, material)
    for pump in SERIES:
        if pump.head(flow) >= head:
            return pump
    raise SizingError(f"no single pump delivers {flow:.0f} l/min at {head:.0f} m; use two pumps in parallel")
