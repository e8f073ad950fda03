"""The fit that the calibrations of answers share: logistic loss with weights, a ridge, slopes held to a sign."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.optimize import minimize

Limits = Sequence[tuple[float | None, float | None]]


def fit_logistic(
    x: np.ndarray, y: np.ndarray, w: np.ndarray, limits: Limits, *, strength: float = 0.3
) -> tuple[np.ndarray, float]:
    """Slopes and intercept, in the units of `x`: (n, d) rows, labels of -1 and 1, a weight and a limit each.

    The ridge holds the slopes of standardized columns; the intercept is free.
    """
    mean, deviation = x.mean(0), x.std(0) + 1e-9
    z = (x - mean) / deviation

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        margin = -y * (z @ theta[1:] + theta[0])
        slope = -y / (1 + np.exp(-margin)) * w
        value = (w * np.logaddexp(0, margin)).sum() + 0.5 / strength * (theta[1:] ** 2).sum()
        return value, np.r_[slope.sum(), z.T @ slope + theta[1:] / strength]

    start = np.zeros(x.shape[1] + 1)
    theta = minimize(loss, start, jac=True, bounds=[(None, None), *limits], method="L-BFGS-B").x
    return theta[1:] / deviation, float(theta[0] - (theta[1:] / deviation * mean).sum())
