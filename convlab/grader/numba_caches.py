"""Lets Numba read what it has compiled before where nothing can be written; imported before what it compiles.

Numba passes over a cache that it could not add to, and compiling takes a minute.
"""

from __future__ import annotations

from typing import Any

from numba.core import caching

__all__ = ["read_only"]


def read_only() -> None:
    """Read caches, and add nothing to them."""
    locator: Any = caching._CacheLocator
    locator.ensure_cache_path = lambda self: None
    cache: Any = caching.Cache
    cache.save_overload = lambda self, signature, data: None
