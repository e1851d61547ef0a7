"""Real networks: their layers, what these cost, and one that finds a face."""

from __future__ import annotations

from convlab.nets.faces import find_faces
from convlab.nets.given import from_specs, network_of
from convlab.nets.layer import Layer
from convlab.nets.network import Network
from convlab.nets.networks import NETWORKS, network
from convlab.nets.onnx_file import from_onnx
from convlab.nets.pnet import pnet
from convlab.nets.profile import profile

__all__ = [
    "NETWORKS",
    "Layer",
    "Network",
    "find_faces",
    "from_onnx",
    "from_specs",
    "network",
    "network_of",
    "pnet",
    "profile",
]
