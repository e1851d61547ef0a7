"""Pictures as linked grids: what a convolution does, and what a GPU is."""

from __future__ import annotations

from convlab.views.banks import banks
from convlab.views.coalescing import coalescing
from convlab.views.dataflow import dataflow
from convlab.views.dataflow_costs import dataflow_costs
from convlab.views.epilogue import epilogue
from convlab.views.family import family
from convlab.views.figure import figure
from convlab.views.fragments import fragments
from convlab.views.gpu import gpu
from convlab.views.grid import Frame, Panel, cell_ids, join, number_text, pairs
from convlab.views.halo import halo
from convlab.views.idle_multipliers import idle_multipliers
from convlab.views.im2col import im2col
from convlab.views.implicit_gemm import implicit_gemm
from convlab.views.latency import latency
from convlab.views.memory_layout import layout
from convlab.views.number_formats import number_formats
from convlab.views.occupancy import occupancy
from convlab.views.pipeline import pipeline
from convlab.views.receptive_field import receptive_field
from convlab.views.registers import registers
from convlab.views.roofline import roofline
from convlab.views.running_sum import running_sum
from convlab.views.threads import threads
from convlab.views.transposed import transposed
from convlab.views.view import View
from convlab.views.window import window
from convlab.views.winograd import winograd

__all__ = [
    "Frame",
    "Panel",
    "View",
    "banks",
    "cell_ids",
    "coalescing",
    "dataflow",
    "dataflow_costs",
    "epilogue",
    "family",
    "figure",
    "fragments",
    "gpu",
    "halo",
    "idle_multipliers",
    "im2col",
    "implicit_gemm",
    "join",
    "latency",
    "layout",
    "number_formats",
    "number_text",
    "occupancy",
    "pairs",
    "pipeline",
    "receptive_field",
    "registers",
    "roofline",
    "running_sum",
    "threads",
    "transposed",
    "window",
    "winograd",
]
