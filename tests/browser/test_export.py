"""An exported notebook in a browser that has no network and no kernel: every picture answers to the mouse."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import expect

from convlab.lab.export import export

from .lab import Lab, write_notebook
from .picture import cells, lit

pytestmark = pytest.mark.browser


def test_a_page_without_network_lights_cells(lab: Lab, tmp_path: Path) -> None:
    source = "explorer = explore.window(h=6, w=7, r=3, s=2, padding=1)\nexplorer"
    write_notebook(lab.folder / "exported.ipynb", "from convlab import explore, views", source, "views.gpu()")
    notebook = lab.open("exported.ipynb")
    notebook.run_all()
    notebook.save()
    page = lab.browser.new_context(offline=True).new_page()
    page.goto(export(lab.folder / "exported.ipynb", tmp_path / "page.html").as_uri())
    figures = page.locator(".cl-root")
    expect(figures).to_have_count(2)
    cells(figures.nth(0), "output").nth(1 * 8 + 2).hover()
    expect(lit(figures.nth(0), "input")).to_have_count(6)
    expect(figures.nth(0).locator(".cl-status")).to_contain_text("Lit: 6 of input")
    figures.nth(1).get_by_role("button", name="Step on").click()
    expect(figures.nth(1).locator(".cl-caption")).to_contain_text("2 of")
