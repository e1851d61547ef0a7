"""Results on disk are whole, or they are not there."""

from __future__ import annotations

import os

import pytest

from convlab.grader.results import Results, write_whole


def test_a_result_comes_back_while_its_fingerprint_is_wanted(tmp_path):
    results = Results(tmp_path / "results")
    kept = {"fingerprint": "f", "student": "李雷", "notes": ["a"]}
    results.keep("ada", kept)
    assert results.standing("ada", "f") == kept
    assert results.standing("ada", "g") is None
    assert results.standing("bob", "f") is None


@pytest.mark.parametrize("text", ["", "{", "[]", "3", '{"fingerprint": "g"}', "\xff"])
def test_what_is_no_result_does_not_stand(text, tmp_path):
    results = Results(tmp_path)
    (tmp_path / "ada.json").write_bytes(text.encode("latin-1"))
    assert results.standing("ada", "f") is None


def test_a_write_that_is_cut_short_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.json"
    write_whole(path, "old")

    def cut(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", cut)
    with pytest.raises(KeyboardInterrupt):
        write_whole(path, "new and longer")
    assert path.read_text() == "old"
    monkeypatch.undo()
    assert len(os.listdir(tmp_path)) == 2
    Results(tmp_path)  # the next run
    assert os.listdir(tmp_path) == ["a.json"]


def test_line_ends_are_written_as_they_are(tmp_path):
    write_whole(tmp_path / "deep" / "a.csv", "a\r\nb\n")
    assert (tmp_path / "deep" / "a.csv").read_bytes() == b"a\r\nb\n"
