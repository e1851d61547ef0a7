from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from convlab.lab import folders
from convlab.lab.folders import environment, is_writable, unwritable

HOME = Path("/home/ada")
SETTINGS = Path(folders.__file__).parent / "jupyter"
ALL = [
    "JUPYTER_CONFIG_DIR",
    "JUPYTER_DATA_DIR",
    "JUPYTER_RUNTIME_DIR",
    "IPYTHONDIR",
    "MPLCONFIGDIR",
    "NUMBA_CACHE_DIR",
    "CUPY_CACHE_DIR",
]


def test_a_folder_that_does_not_exist_is_writable_if_it_can_be_made(tmp_path: Path) -> None:
    assert is_writable(tmp_path / "new" / "deeper")
    assert list(tmp_path.iterdir()) == []  # the probe leaves nothing behind


def test_nothing_can_be_made_below_a_file_or_in_a_kernel_file_system(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert not is_writable(tmp_path / "file")
    assert not is_writable(tmp_path / "file" / "below")
    assert not is_writable(Path("/proc/nothing/.jupyter"))


def test_a_writable_home_moves_nothing() -> None:
    added = environment({}, Path("/refuge"), HOME, probe=lambda folder: True)
    assert added == {
        "JUPYTER_PREFER_ENV_PATH": "1",
        "JUPYTER_CONFIG_PATH": str(SETTINGS),
        "NO_PROXY": "localhost,127.0.0.1,::1",
        "no_proxy": "localhost,127.0.0.1,::1",
    }


def test_an_unwritable_home_moves_every_folder_to_a_place_of_its_own() -> None:
    added = environment({}, Path("/refuge"), HOME, probe=lambda folder: False)
    assert unwritable({}, HOME, probe=lambda folder: False) == ALL
    moved = [Path(added[name]) for name in ALL]
    assert {folder.parent for folder in moved} == {Path("/refuge")}
    assert len(set(moved)) == len(ALL)


def test_only_what_cannot_be_written_moves() -> None:
    assert unwritable({}, HOME, probe=lambda folder: folder != HOME / ".ipython") == ["IPYTHONDIR"]


def test_a_folder_that_the_learner_chose_stays() -> None:
    added = environment({"IPYTHONDIR": "/mine"}, Path("/refuge"), HOME, probe=lambda folder: False)
    assert "IPYTHONDIR" not in added
    assert "MPLCONFIGDIR" in added


def test_the_news_pop_up_is_off_and_the_learners_own_settings_are_still_read() -> None:
    disabled = json.loads((SETTINGS / "labconfig" / "page_config.json").read_text())["disabledExtensions"]
    assert disabled == {"@jupyterlab/apputils-extension:announcements": True}
    added = environment({"JUPYTER_CONFIG_PATH": "/mine"}, Path("/refuge"), HOME)
    assert added["JUPYTER_CONFIG_PATH"].split(os.pathsep) == [str(SETTINGS), "/mine"]


def test_pictures_are_saved_with_their_notebook() -> None:
    settings = json.loads((SETTINGS / "labconfig" / "default_setting_overrides.json").read_text())
    assert settings == {"@jupyter-widgets/jupyterlab-manager:plugin": {"saveState": True}}


@pytest.mark.parametrize("name", ["NO_PROXY", "no_proxy"])
def test_no_proxy_is_appended_to_once(name: str) -> None:
    added = environment({name: "example.org,127.0.0.1"}, Path("/refuge"), HOME, probe=lambda folder: True)
    assert added["NO_PROXY"] == added["no_proxy"] == "example.org,127.0.0.1,localhost,::1"


@pytest.mark.parametrize(
    ("variable", "code"),
    [
        ("JUPYTER_CONFIG_DIR", "from jupyter_core import paths; print(paths.jupyter_config_dir())"),
        ("JUPYTER_DATA_DIR", "from jupyter_core import paths; print(paths.jupyter_data_dir())"),
        ("JUPYTER_RUNTIME_DIR", "from jupyter_core import paths; print(paths.jupyter_runtime_dir())"),
        ("IPYTHONDIR", "from IPython.paths import get_ipython_dir; print(get_ipython_dir())"),
        ("MPLCONFIGDIR", "import matplotlib; print(matplotlib.get_configdir())"),
        ("NUMBA_CACHE_DIR", "import numba; print(numba.config.CACHE_DIR)"),
    ],
)
def test_each_tool_obeys_its_variable_and_has_the_usual_folder_without_it(
    variable: str, code: str, tmp_path: Path
) -> None:
    home, refuge = tmp_path / "home", tmp_path / "refuge"
    home.mkdir()
    refuge.mkdir()  # as `convlab lab` has it by then; IPython does not make its folder's parent
    added = environment({}, refuge, home, probe=lambda folder: False)

    def says(**env: str) -> Path:
        env = {"HOME": str(home), "USERPROFILE": str(home), **env}
        command = [sys.executable, "-c", code]
        return Path(subprocess.run(command, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())

    assert says(**{variable: added[variable]}) == Path(added[variable])
    if variable != "NUMBA_CACHE_DIR":  # Numba's configuration does not say where its usual folder is
        usual = says()
        assert unwritable({}, home, probe=lambda folder: folder != usual) == [variable]
