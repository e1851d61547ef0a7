"""What a hand on a slider and a mouse over a picture wait for: each explorer, with its largest picture.

Inside of the kernel: from a control's new value to the new SVG. In the browser: from pointing at a cell to all that
belongs to it being lit and laid out, and from one step of an animation to the next. Matplotlib, reusing one figure with
three axes, is the peer of the first: it is what a notebook would otherwise draw with.

    uv run python benchmarks/views.py [--record]
"""

from __future__ import annotations

import io
import statistics
import time
from typing import Any

import matplotlib as mpl
import numpy as np
from playwright.sync_api import Page, sync_playwright
from record import main, seconds
from tqdm import tqdm

mpl.use("Agg")
import matplotlib.pyplot as plt

from convlab import explore
from convlab.explore.controls import Choice, Control, Range
from convlab.explore.explorer import Explorer
from convlab.views.widget import SCRIPT, STYLES

EXPLORERS = {name: getattr(explore, name) for name in explore.__all__ if name != "predict"}
CHANGES, HOVERS = 61, 41
BROWSER = {"executable_path": "/usr/bin/chromium", "args": ["--no-sandbox", "--disable-background-networking"]}
MOUNT = """async ([script, style, picture]) => {
    document.head.innerHTML = `<style>${style}</style>`;
    document.body.innerHTML = picture;
    const module = await import(URL.createObjectURL(new Blob([script], {type: "text/javascript"})));
    module.enliven(document.querySelector("svg.cl-view"));
}"""
HOVER = """(count) => {
    const cells = [...document.querySelectorAll(".cl-cell")];
    if (!cells.length) return [];
    return Array.from({length: count}, (_, i) => {
        const cell = cells[Math.floor((i * 0.618034 % 1) * cells.length)];
        const start = performance.now();
        cell.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
        document.body.getBoundingClientRect();
        return performance.now() - start;
    });
}"""

STEP = """(count) => {
    const on = document.querySelector('[aria-label="Step on"]');
    return Array.from({length: count}, () => {
        const start = performance.now();
        on.click();
        document.body.getBoundingClientRect();
        return performance.now() - start;
    });
}"""


def largest(explorer: Explorer) -> None:
    """Move all numbers to the most that they reach."""
    explorer.set({name: each.most for name, each in explorer.table.items() if isinstance(each, Range)})


def reached(control: Control, field: Any) -> list[Any]:
    """The values that a control reaches now."""
    if isinstance(control, Range):
        return [*range(field.min, field.max + 1)]
    return [*(control.words if isinstance(control, Choice) else control.examples)]


def changes(explorer: Explorer) -> list[float]:
    """Milliseconds of changes of one control, each to another value, with all others at their largest."""
    rng, times = np.random.default_rng(5), []
    for _ in range(CHANGES):
        largest(explorer)
        name = str(rng.choice([name for name, field in explorer.controls.items() if not field.disabled]))
        field = explorer.controls[name]
        values = reached(explorer.table[name], field)
        value = values[rng.choice([i for i, each in enumerate(values) if each != field.value] or [0])]
        start = time.perf_counter()
        field.value = value
        times.append(1e3 * (time.perf_counter() - start))
    return times


def mount(page: Page, picture: str) -> None:
    """Put a picture that answers into an empty page."""
    page.evaluate(MOUNT, [SCRIPT.read_text(encoding="utf-8"), STYLES.read_text(encoding="utf-8"), picture])


def hovers(page: Page, picture: str) -> list[float]:
    """Milliseconds of pointing at cells of a picture."""
    mount(page, picture)
    return list(page.evaluate(HOVER, HOVERS))


def steps(page: Page) -> list[float]:
    """Milliseconds of the steps of an array of 4 × 4 PEs over an input of 6 × 6."""
    mount(page, explore.dataflow(k=4).view.live)
    return list(page.evaluate(STEP, HOVERS))


def matplotlib_milliseconds() -> float:
    """Redraw three images of the window explorer's sizes into one figure that exists, and make a PNG of it."""
    figure, axes = plt.subplots(1, 3, figsize=(9, 3))
    images = [axis.imshow(np.zeros(shape)) for axis, shape in zip(axes, ((8, 9), (3, 3), (6, 7)), strict=True)]
    rng = np.random.default_rng(0)

    def draw() -> None:
        for image in images:
            image.set_data(rng.random(image.get_array().shape))
        figure.savefig(io.BytesIO(), format="png")

    return 1e3 * seconds(draw, repeats=21)


def summary(times: list[float]) -> dict[str, float]:
    """The median, and the ninth of ten."""
    return {"median": round(statistics.median(times), 2), "ninth of ten": round(float(np.quantile(times, 0.9)), 2)}


def measure() -> dict[str, Any]:
    """Milliseconds for each explorer, and the ratio to the peer."""
    redraws, lights = {}, {}
    with sync_playwright() as playwright:
        page = playwright.chromium.launch(**BROWSER).new_page()
        for name, make in tqdm(EXPLORERS.items(), unit="explorer"):
            explorer = make()
            redraws[name] = summary(changes(explorer))
            largest(explorer)
            if times := hovers(page, explorer.view.live):
                lights[name] = summary(times)
        animation = summary(steps(page))
    peer = matplotlib_milliseconds()
    slowest = max(found["median"] for found in redraws.values())
    return {
        "milliseconds from a control to the SVG, largest picture": redraws,
        "milliseconds from pointing to lit, largest picture": lights,
        "milliseconds from a step of an animation to the next": animation,
        "milliseconds of a reused Matplotlib figure": round(peer, 1),
        "slowest explorer, times faster": round(peer / slowest, 1),
    }


if __name__ == "__main__":
    main("views", measure)
