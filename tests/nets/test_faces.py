"""A face in a photo, wherever it is; and none where there is none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from convlab.errors import ConvlabError
from convlab.nets.boxes import overlap, suppress
from convlab.nets.faces import Face, find_faces
from convlab.nets.pyramid import levels, shrunk, to_network
from convlab.ops.conv2d import conv2d

PHOTO = Path(mpl.get_data_path()) / "sample_data" / "grace_hopper.jpg"
# Seen by eye in the photo of 512×600: the pupils, the tip of the nose and the mouth; and the ears, hat and collar.
INSIDE = [(222, 190), (305, 188), (267, 230), (266, 278)]
ALL = (145, 85, 385, 345)


@pytest.fixture(scope="module")
def photo() -> Any:
    return plt.imread(PHOTO)


def is_the_face(face: Face, scale: float = 1.0, shift: tuple[float, float] = (0, 0)) -> bool:
    """Whether a box holds eyes, nose and mouth, and not much more than the head."""
    left, top, right, bottom = ((side - shift[i % 2]) / scale for i, side in enumerate(face[:4]))
    holds = all(left < x < right and top < y < bottom for x, y in INSIDE)
    return holds and left > ALL[0] and top > ALL[1] and right < ALL[2] and bottom < ALL[3]


def test_the_face_is_found_by_our_kernels_on_the_emulator(photo: Any) -> None:
    """As a learner does it, in full size: some seconds."""
    faces = find_faces(photo, device="emulator")
    assert is_the_face(faces[0])
    assert faces[0].score > 0.99
    assert faces[0].votes > 5 * max(face.votes for face in faces[1:])


def test_it_is_found_in_a_smaller_photo_and_away_from_the_middle(photo: Any) -> None:
    small = np.asarray(Image.fromarray(photo).resize((231, 270)))
    canvas = np.full((300, 420, 3), (90, 110, 140), "u1")
    canvas[25:295, 170:401] = small
    for image, shift in ((small, (0, 0)), (canvas, (170, 25))):
        (first, *_) = find_faces(image, "naive", "emulator", smallest=40)
        assert is_the_face(first, 0.45, shift)


def test_floats_and_a_fourth_channel_change_nothing(photo: Any) -> None:
    part = photo[60:360:2, 120:400:2]
    floats = (part / 255).astype("f4")
    with_alpha = np.concatenate([part, np.full((*part.shape[:2], 1), 7, "u1")], axis=2)
    found = find_faces(part, "direct", "cpu")
    expected = [face.votes for face in found]
    assert expected
    assert min(min(face[:4]) for face in found) >= 0
    assert all(face.right <= part.shape[1] and face.bottom <= part.shape[0] for face in found)
    for same in (floats, with_alpha):
        assert [face.votes for face in find_faces(same, "direct", "cpu")] == expected
    grey = part.mean(axis=2).astype("u1")
    assert find_faces(grey, "direct", "cpu")[0].votes > 5


EMPTY = {
    "black": np.zeros((40, 31, 3), "u1"),
    "grey": np.full((120, 90, 3), 128, "u1"),
    "white": np.ones((50, 70), "f4"),
    "no pixel": np.zeros((0, 0, 3), "u1"),
    "no row": np.zeros((0, 20, 3), "u1"),
    "smaller than a window": np.zeros((11, 300, 3), "u1"),
}


@pytest.mark.parametrize("photo", EMPTY.values(), ids=EMPTY.keys())
def test_an_empty_photo_has_no_face_and_is_no_error(photo: Any) -> None:
    faces = find_faces(photo, device="emulator")
    assert len(faces) == 0
    assert repr(faces) == "Faces: no face found"
    assert faces.plot().figure.axes[0].get_title(loc="left") == "no face found"


def test_what_is_no_photo_is_refused() -> None:
    with pytest.raises(ValueError, match=r"The photo has shape \(3, 9, 7\), not \(H, W, 3\).\n  Fix: pass what plt"):
        find_faces(np.zeros((3, 9, 7)))
    with pytest.raises(ValueError, match=r"The photo is of <U1, not of numbers.\n  Fix: pass what plt.imread gives."):
        find_faces(np.array([["a"]]))
    with pytest.raises(ValueError, match=r"The photo has pixels that are no finite numbers.\n  Fix: replace them"):
        find_faces(np.full((20, 30), np.nan))
    for smallest in (11, np.nan):
        with pytest.raises(ValueError, match=r"smallest=.* is below the 12 pixels that P-Net sees.\n  Fix: give at l"):
            find_faces(np.zeros((20, 30)), smallest=smallest)


def test_the_functions_convolution_is_what_counts(photo: Any) -> None:
    """What a learner sees whose kernel writes nothing, flips its filters, or gives another shape."""
    part = photo[60:360:2, 120:400:2]

    def flips(x: Any, w: Any, bias: Any) -> Any:
        return conv2d(x, w[..., ::-1, ::-1].copy(), bias)

    assert len(find_faces(part, device="cpu", conv=conv2d)) > 0
    assert [*find_faces(part, device="cpu", conv=conv2d)] != [*find_faces(part, device="cpu", conv=flips)]
    assert len(find_faces(part, device="cpu", conv=lambda *given: 0 * conv2d(*given))) == 0
    with pytest.raises(ConvlabError, match="Your convolution gave"):
        find_faces(part, device="cpu", conv=lambda x, w, bias: x)


def test_the_plot_has_a_box_a_face_with_a_rim_the_first_thick() -> None:
    faces = find_faces(plt.imread(PHOTO)[60:360:2, 120:400:2], "direct", "cpu")
    patches = faces.plot().figure.axes[0].patches
    assert len(patches) == 2 * len(faces)
    assert patches[0].get_linewidth() > max([patch.get_linewidth() for patch in patches[2:]], default=0)
    assert faces.plot().image("png").startswith(b"\x89PNG")
    assert len(faces[:1]) == 1
    assert "votes" in repr(faces)
    assert f'alt="{repr(faces)[:9]}' in faces._repr_html_()


def test_overlap_is_a_count_of_common_pixels() -> None:
    rng = np.random.default_rng(2)
    corners = rng.integers(0, 12, (40, 2))
    boxes = np.concatenate([corners, corners + rng.integers(1, 9, (40, 2))], axis=1)

    def pixels(box: Any) -> set[tuple[int, int]]:
        return {(x, y) for x in range(box[0], box[2]) for y in range(box[1], box[3])}

    first = pixels(boxes[0])
    common = [len(first & pixels(box)) for box in boxes]
    union = [len(first | pixels(box)) for box in boxes]
    smaller = [min(len(first), len(pixels(box))) for box in boxes]
    np.testing.assert_allclose(overlap(boxes[0], boxes), np.divide(common, union))
    np.testing.assert_allclose(overlap(boxes[0], boxes, "smaller"), np.divide(common, smaller))


def test_suppression_keeps_the_best_of_what_overlaps_and_loses_no_box() -> None:
    rng = np.random.default_rng(3)
    corners = rng.uniform(0, 30, (60, 2))
    boxes, scores = np.concatenate([corners, corners + rng.uniform(5, 15, (60, 2))], axis=1), rng.random(60)
    found = suppress(boxes, scores, 0.4)
    kept = [best for best, _ in found]
    assert 1 < len(kept) < 60
    assert sorted(number for _, same in found for number in same) == list(range(60))
    for best, same in found:
        assert best == same[0]
        assert scores[best] == scores[same].max()
        assert (overlap(boxes[best], boxes[same[1:]]) > 0.4).all()
    for at, one in enumerate(kept):
        assert not (overlap(boxes[one], boxes[kept[:at]]) > 0.4).any()
    assert suppress(np.empty((0, 4)), np.empty(0), 0.4) == []


@pytest.mark.parametrize(("size", "scale", "after"), [((37, 52), 0.5, (19, 26)), ((60, 41), 0.31, (19, 13))])
def test_a_pixel_of_a_smaller_image_is_the_mean_of_its_area(size: Any, scale: float, after: Any) -> None:
    """Each pixel as so many small ones that both grids divide them."""
    image = np.random.default_rng(4).uniform(-1, 1, (2, *size)).astype("f4")
    fine = np.repeat(np.repeat(image, after[0], axis=1), after[1], axis=2)
    expected = fine.reshape(2, after[0], size[0], after[1], size[1]).mean(axis=(2, 4))
    np.testing.assert_allclose(shrunk(image, scale), expected, atol=1e-5)
    np.testing.assert_array_equal(shrunk(image, 1.0), image)


def test_shrinking_is_what_pillow_does_with_its_box_filter() -> None:
    image = np.random.default_rng(5).uniform(-1, 1, (1, 36, 60)).astype("f4")
    theirs = Image.fromarray(image[0]).resize((15, 9), Image.Resampling.BOX)
    np.testing.assert_allclose(shrunk(image, 0.25)[0], np.asarray(theirs), atol=1e-6)


def test_levels_go_down_to_one_window() -> None:
    scales = [*levels(40, 90, 20)]
    assert scales[0] == 0.6
    assert all(40 * scale >= 12 for scale in scales)
    assert 40 * scales[-1] * 0.709 < 12
    assert [*levels(11, 90, 12)] == []


def test_the_networks_input_is_red_green_blue_from_minus_one_to_one() -> None:
    photo = np.zeros((4, 5, 3), "u1")
    photo[1, 2] = (255, 127, 0)
    values = to_network(photo)
    assert values.shape == (3, 4, 5)
    np.testing.assert_allclose(values[:, 1, 2], [127.5 / 128, -0.5 / 128, -127.5 / 128])
