"""Finds faces in a photo with P-Net."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from tqdm.auto import tqdm

from convlab.nets.boxes import suppress
from convlab.nets.pnet import CELL, STRIDE, Kernels, Scores, kernels, pnet
from convlab.nets.pyramid import levels, shrunk, to_network
from convlab.nets.weights import load_weights
from convlab.perf.picture import Picture

__all__ = ["Face", "Faces", "find_faces"]

Array = npt.NDArray[Any]
SHARE = 10  # the smallest face looked for, where none is given: a tenth of the photo's shorter side
SURE = 0.9  # of windows that count
INSIDE = 0.7  # of the smaller of two boxes, from which both are of one face


class Face(NamedTuple):
    """A box in pixels of the photo, how sure the best of its windows is, and how many windows it stands for."""

    left: float
    top: float
    right: float
    bottom: float
    score: float
    votes: int


class Faces(Sequence[Face]):
    """Faces in a photo, the one that most windows vote for first; a notebook shows the photo with them.

    P-Net only proposes: MTCNN sorts its boxes out with two more networks, which are not here.
    """

    def __init__(self, photo: Any, faces: Sequence[Face]) -> None:
        self.photo = photo
        self._all = tuple(faces)

    def __getitem__(self, index: Any) -> Any:
        return Faces(self.photo, self._all[index]) if isinstance(index, slice) else self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Face]:
        return iter(self._all)

    def plot(self) -> Picture:
        """Draw the photo with the boxes: the first thick, the others thin and dashed."""
        image = np.asarray(self.photo)
        height, width = image.shape[:2]
        figure = Figure(figsize=(5, max(1.5, min(9, 5 * height / max(width, 1)))), layout="constrained")
        axes = figure.subplots()
        if image.size:
            axes.imshow(image, cmap="gray")
        for number, face in enumerate(self):
            size = face.right - face.left, face.bottom - face.top
            for colour, extra in (("black", 2), ("white", 0)):  # a rim, so that it is seen on any photo
                how: dict[str, Any] = {"linestyle": "--" if number else "-", "fill": False, "edgecolor": colour}
                axes.add_patch(Rectangle((face.left, face.top), *size, linewidth=(1 if number else 2.5) + extra, **how))
        axes.set_title(self._title(), loc="left", fontsize=10)
        axes.set_axis_off()
        return Picture(figure, repr(self), "png")

    def _title(self) -> str:
        return "no face found" if not self else f"{len(self)} box{'es' * (len(self) > 1)}, the likeliest drawn thick"

    def __repr__(self) -> str:
        lines = [
            f"  {face.left:.0f}, {face.top:.0f} to {face.right:.0f}, {face.bottom:.0f}: "
            f"score {face.score:.3f}, votes {face.votes}"
            for face in self
        ]
        return "\n".join([f"Faces: {self._title()}", *lines])

    def _repr_html_(self) -> str:
        return self.plot()._repr_html_()


def find_faces(
    photo: Any,
    method: str = "auto",
    device: str = "auto",
    conv: Any = None,
    smallest: float | None = None,
) -> Faces:
    """Find the faces in a photo with P-Net, whose convolutions a method of the ladder computes, or your own function.

    >>> find_faces(np.zeros((40, 30, 3), "u1"), device="emulator")
    Faces: no face found

    Args:
        photo: (H, W, 3), (H, W, 4) or (H, W), of whole numbers to 255 or floats to 1, as ``plt.imread`` gives it.
        method: a name from ``cl.methods("conv2d")``, or "auto".
        device: "auto", "cuda" or "emulator"; "cpu" for references.
        conv: a function of x (1, C, H, W), w (K, C, R, S) and bias (K,), all of float32, that gives their convolution
            (1, K, P, Q), with stride 1 and no padding: a launch of your own kernel.
        smallest: the height in pixels of the smallest face to look for, at least 12; a tenth of the photo's shorter
            side where it is not given.

    Returns:
        `Faces`, none where the photo has none, or is smaller than 12×12.

    Raises:
        ValueError: an array that is no photo, or a ``smallest`` below 12.
        ConvlabError: the package mtcnn, with the weights, is not installed; or ``conv`` gives another shape.
    """
    image = to_network(photo)
    height, width = image.shape[1:]
    least = max(CELL, min(height, width) / SHARE) if smallest is None else smallest
    if not least >= CELL:
        raise ValueError(f"smallest={smallest!r} is below the {CELL} pixels that P-Net sees.\n  Fix: give at least 12.")
    load_weights()
    return Faces(photo, _sorted_out(_proposed(image, least, kernels(method, device, conv))))


def _proposed(image: Array, smallest: float, on: Kernels) -> Array:
    """All windows that look like a face, in pixels of the photo: (windows, 5), of four sides and a score."""
    found = [np.empty((0, 5))]
    height, width = image.shape[1:]
    scales = [*levels(height, width, smallest)]
    for scale in tqdm(scales, desc="pyramid", unit="level", leave=False, delay=1):
        small = shrunk(image, scale)
        per_pixel = width / small.shape[2], height / small.shape[1]
        found.append(_windows(pnet(small[None], on), per_pixel))
    windows = np.concatenate(found)
    windows[:, :4] = np.clip(windows[:, :4], 0, [width, height, width, height])
    return windows


def _windows(scores: Scores, per_pixel: tuple[float, float]) -> Array:
    """The windows of a level that are sure, moved to where the network sees the face: boxes and scores in a row.

    ``per_pixel`` is how many columns and rows of the photo a pixel of the level is.
    """
    rows, columns = np.nonzero(scores.face > SURE)
    corner = np.stack([columns, rows, columns, rows]) * STRIDE + np.array([[0], [0], [CELL], [CELL]])
    boxes = (corner + scores.box[:, rows, columns] * CELL) * np.array(2 * per_pixel)[:, None]
    return np.concatenate([boxes, scores.face[None, rows, columns]]).T


def _sorted_out(windows: Array) -> list[Face]:
    """One box for each face: the best, with the votes of all that overlap it or lie inside."""
    boxes, scores = windows[:, :4], windows[:, 4]
    faces = []
    for best, same in suppress(boxes, scores, INSIDE, "smaller"):
        left, top, right, bottom, score = map(float, windows[best])
        faces.append(Face(left, top, right, bottom, score, len(same)))
    return sorted(faces, key=lambda face: -face.votes)
