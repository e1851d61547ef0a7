"""Where things are in a picture of linked grids and in its controls."""

from __future__ import annotations

from playwright.sync_api import Locator

__all__ = ["cells", "lit", "slider"]


def cells(explorer: Locator, panel: str) -> Locator:
    """All cells of a panel."""
    return explorer.locator(f'.cl-panel[data-name="{panel}"] .cl-cell')


def lit(explorer: Locator, panel: str) -> Locator:
    """The lit cells of a panel."""
    return explorer.locator(f'.cl-panel[data-name="{panel}"] .cl-lit')


def slider(explorer: Locator, label: str) -> Locator:
    """The handle of the slider beside a number field."""
    row = explorer.locator(".widget-hbox", has=explorer.page.get_by_label(label, exact=True))
    return row.get_by_role("slider")
