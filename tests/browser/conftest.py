"""A JupyterLab with a browser beside it for each module of this folder."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .lab import Lab, running_lab


# Not for the whole session: while Playwright is open, asyncio.run fails everywhere else in this process.
@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with running_lab(tmp_path_factory.mktemp("notebooks"), tmp_path_factory.mktemp("jupyter")) as running:
        yield running
