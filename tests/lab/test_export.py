"""A notebook as a page: pictures in place of widgets, their last state, and what a widget-free reader still gets."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import ipywidgets as widgets
import nbformat
import pytest

from convlab import explore
from convlab.cli import main
from convlab.errors import ConvlabError
from convlab.lab.export import export
from convlab.spec import ConvSpec
from convlab.views import window

VIEW = window(ConvSpec(n=1, c=1, h=4, w=5, k=1, r=3, s=2))


def notebook(folder: Path, *shown: Any, saved: bool = True) -> Path:
    """A notebook whose cells have shown these, with its widgets' state where it was saved."""
    cells = []
    for each in shown:
        bundle = each._repr_mimebundle_()
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        output = nbformat.v4.new_output("display_data", data)
        cells.append(nbformat.v4.new_code_cell("show", outputs=[output]))
    made = nbformat.v4.new_notebook(cells=cells)
    if saved:
        state = widgets.Widget.get_manager_state()
        made.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": state}
    path = folder / "a page.ipynb"
    nbformat.write(made, path)
    return path


def pictures(page: Path) -> list[str]:
    return re.findall(r'<svg [^>]*class="cl-view.*?</svg>', page.read_text(encoding="utf-8"), flags=re.DOTALL)


@pytest.mark.parametrize("saved", [True, False])
def test_views_and_explorers_become_pictures_with_one_front_end(tmp_path: Path, saved: bool) -> None:
    page = export(notebook(tmp_path, VIEW, explore.window(h=3, w=4), saved=saved))
    assert page == tmp_path / "a page.html"
    assert len(pictures(page)) == 2
    text = page.read_text(encoding="utf-8")
    assert text.count("class LinkedGrid") == 1
    assert "widget-view" not in text
    assert "html-manager" not in text


def test_the_picture_is_the_one_that_was_shown_last(tmp_path: Path) -> None:
    explorer = explore.window(h=3, w=4)
    path = notebook(tmp_path, explorer, saved=False)
    explorer.controls["h"].value = 5
    content = nbformat.read(path, as_version=4)
    state = widgets.Widget.get_manager_state()
    content.metadata["widgets"] = {"application/vnd.jupyter.widget-state+json": state}
    nbformat.write(content, path)
    (picture,) = pictures(export(path))
    assert "y[p=4, q=0]" in picture
    assert "y[p=3, q=0]" not in pictures(export(notebook(tmp_path, explore.window(h=3, w=4), saved=False)))[0]


def test_other_widgets_keep_their_words(tmp_path: Path) -> None:
    text = export(notebook(tmp_path, explore.predict("How many?"))).read_text(encoding="utf-8")
    assert "Your prediction: How many?" in text
    assert "class LinkedGrid" not in text


def test_a_file_that_is_no_notebook_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "no.ipynb").write_text("not JSON")
    for name in ("no.ipynb", "missing.ipynb"):
        with pytest.raises(ConvlabError, match=rf"Cannot read .*{name} as a notebook: (.|\n)*Fix: name an .ipynb file"):
            export(tmp_path / name)
    assert main(["export", str(tmp_path / "missing.ipynb")]) == 2
    assert "as a notebook" in capsys.readouterr().err
    with pytest.raises(ConvlabError, match=r"Cannot write .*\n  Fix: name another file with --out."):
        export(notebook(tmp_path, VIEW), tmp_path / "missing" / "a.html")


def test_the_command_says_where_the_page_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = notebook(tmp_path, VIEW)
    assert main(["export", str(path), "--out", str(tmp_path / "b.html")]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'b.html'}\n"
    assert len(pictures(tmp_path / "b.html")) == 1
