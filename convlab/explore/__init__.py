"""Pictures with controls, and predictions: what a learner moves and fills in."""

from __future__ import annotations

from convlab.explore.family import family
from convlab.explore.fragments import fragments
from convlab.explore.latency import latency
from convlab.explore.predict import predict
from convlab.explore.window import window

__all__ = ["family", "fragments", "latency", "predict", "window"]
