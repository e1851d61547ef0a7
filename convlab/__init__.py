"""How a GPU executes neural-network convolution: real CUDA C, on a GPU or on any laptop.

>>> import convlab as cl
>>> cl.ConvSpec(n=1, c=3, h=224, w=224, k=32, r=3, s=3, stride=2, padding=1).output_shape
(1, 32, 112, 112)

The public names are spelled out in ``__init__.pyi``; each is imported when it is first used, so that ``convlab --help``
need not wait for Numba and widgets.
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
