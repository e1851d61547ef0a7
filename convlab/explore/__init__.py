"""Pictures with controls, and predictions: what a learner moves and fills in."""

from __future__ import annotations

from convlab.explore.banks import banks
from convlab.explore.coalescing import coalescing
from convlab.explore.dataflow import dataflow
from convlab.explore.dataflow_costs import dataflow_costs
from convlab.explore.epilogue import epilogue
from convlab.explore.family import family
from convlab.explore.fragments import fragments
from convlab.explore.groups import groups
from convlab.explore.halo import halo
from convlab.explore.idle_multipliers import idle_multipliers
from convlab.explore.im2col import im2col
from convlab.explore.implicit_gemm import implicit_gemm
from convlab.explore.latency import latency
from convlab.explore.layout import layout
from convlab.explore.number_formats import number_formats
from convlab.explore.occupancy import occupancy
from convlab.explore.pipeline import pipeline
from convlab.explore.predict import predict
from convlab.explore.receptive_field import receptive_field
from convlab.explore.registers import registers
from convlab.explore.roofline import roofline
from convlab.explore.running_sum import running_sum
from convlab.explore.threads import threads
from convlab.explore.transposed import transposed
from convlab.explore.window import window
from convlab.explore.winograd import winograd

__all__ = [
    "banks",
    "coalescing",
    "dataflow",
    "dataflow_costs",
    "epilogue",
    "family",
    "fragments",
    "groups",
    "halo",
    "idle_multipliers",
    "im2col",
    "implicit_gemm",
    "latency",
    "layout",
    "number_formats",
    "occupancy",
    "pipeline",
    "predict",
    "receptive_field",
    "registers",
    "roofline",
    "running_sum",
    "threads",
    "transposed",
    "window",
    "winograd",
]
