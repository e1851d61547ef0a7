"""The ladder: every way the course computes a convolution, one rung a file, and the table of them all."""

from __future__ import annotations
