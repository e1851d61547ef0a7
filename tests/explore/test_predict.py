from __future__ import annotations

import re

import numpy as np
import pytest

from convlab.explore.predict import predict


def revealed(written: str, actual: float, unit: str = "") -> str:
    guess = predict("How many?", unit=unit)
    guess.field.value = written
    return repr(guess.reveal(actual))


@pytest.mark.parametrize(
    ("written", "actual", "unit", "sentence"),
    [
        ("", 4, "sectors", "No prediction yet; the run says 4 sectors."),
        ("many", 4, "", "No prediction yet; the run says 4."),
        ("4", 4, "sectors", "You predicted 4 sectors, and the run says the same."),
        ("0.3", 0.1 + 0.2, "", "You predicted 0.3, and the run says the same."),
        ("0", 0, "", "You predicted 0, and the run says the same."),
        ("30", 32, "", "You predicted 30, the run says 32: within 10 %."),
        ("−0.95", -1, "", "You predicted −0.95, the run says −1: within 10 %."),
        ("32", 4, "sectors", "You predicted 32 sectors, the run says 4: 8 times fewer."),
        ("32", 4, "", "You predicted 32, the run says 4: 8 times fewer."),
        ("3", 2304, "multiplications", "You predicted 3 multiplications, the run says 2,304: 770 times as many."),
        ("1", 4, "sectors", "You predicted 1 sector, the run says 4: 4 times as many."),
        ("4", 1, "sectors", "You predicted 4 sectors, the run says 1: 4 times fewer."),
        ("3", 1.2, "ms", "You predicted 3 ms, the run says 1.2 ms: 2.5 times less."),
        ("1", 0.25, "", "You predicted 1, the run says 0.25: 4 times less."),
        ("8", 6, "cycles", "You predicted 8 cycles, the run says 6: 25 % fewer."),
        ("8", 12.5, "cycles", "You predicted 8 cycles, the run says 12.5: 56 % more."),
        ("25", 50, "%", "You predicted 25 %, the run says 50 %: 25 points more."),
        ("51.5", 50, "%", "You predicted 51.5 %, the run says 50 %: 1.5 points less."),
        ("49", 50, "%", "You predicted 49 %, the run says 50 %: 1 point more."),
        ("5", 0, "", "You predicted 5, the run says 0: 5 fewer."),
        ("0", 5, "faults", "You predicted 0 faults, the run says 5: 5 more."),
        ("−1", 1, "", "You predicted −1, the run says 1: 2 more."),
        (
            "1",
            0.5,
            "sectors per request",
            "You predicted 1 sectors per request, the run says 0.5 sectors per request: 2 times less.",
        ),
        ("1", float("nan"), "", "You predicted 1, the run says nan."),
        ("1e6", np.int64(1_048_576), "", "You predicted 1,000,000, the run says 1,048,576: within 10 %."),
        ("2", 108 * 64 * 32, "threads", "You predicted 2 threads, the run says 221,184: 110,000 times as many."),
    ],
)
def test_the_prediction_stands_beside_the_result(written: str, actual: float, unit: str, sentence: str) -> None:
    assert revealed(written, actual, unit) == sentence


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("32", 32),
        (" 32 ", 32),
        ("1,000", 1000),
        ("12,345,678.5", 12_345_678.5),
        ("1 000", 1000),
        ("1_000", 1000),
        ("1e6", 1e6),
        ("1E-3", 1e-3),
        (".5", 0.5),
        ("3.", 3),
        ("-2", -2),
        ("−2", -2),
        ("+2", 2),
        ("", None),
        ("   ", None),
        ("2,5", None),
        ("1,00", None),
        ("1,0000", None),
        ("about 3", None),
        ("3 sectors", None),
        ("nan", None),
        ("inf", None),
        ("1e999", None),
        ("0x10", None),
    ],
)
def test_numbers_are_read_as_people_write_them(written: str, value: float | None) -> None:
    guess = predict("How many?")
    guess.field.value = written
    assert guess.value == value


def test_a_text_that_is_no_number_gets_a_hint_until_it_is_one() -> None:
    guess = predict("How many?")
    hint = guess.children[-1]
    shown = []
    for written in ("3", "2,5", "", "many", "7"):
        guess.field.value = written
        shown.append(hint.value)
    assert [bool(text) for text in shown] == [False, True, False, True, False]
    assert "Write it as 32, 0.5, 1,000 or 1e6." in shown[1]


def test_a_choice_is_compared_in_the_same_calm_words() -> None:
    guess = predict("Which is faster?", choices=["NCHW", "NHWC"])
    assert guess.value is None
    assert repr(guess.reveal("NHWC")) == "No prediction yet; the run says “NHWC”."
    guess.field.value = "NHWC"
    assert guess.value == "NHWC"
    assert guess.children[-1].value == "<small>You predict “NHWC”.</small>"
    assert repr(guess.reveal("NHWC")) == "You predicted “NHWC”, and the run says the same."
    assert repr(guess.reveal("NCHW", note="counted")) == "You predicted “NHWC”, the run says “NCHW”. (counted)"


def test_nothing_is_chosen_or_written_before_the_learner_does_it() -> None:
    assert predict("How many?").value is None
    assert predict("Which?", choices=["a", "b"]).value is None


def test_nobody_is_judged() -> None:
    sentences = " ".join(revealed(written, 7) for written in ("", "7", "6.9", "70", "0", "-7"))
    assert not re.search(r"right|wrong|correct|good|bad|mistake|sorry|!", sentences)


def test_the_result_is_html_with_its_note_and_nothing_unescaped() -> None:
    shown = predict("How many?", unit="<b>").reveal(4, note="a < b")
    html = shown._repr_html_()
    assert "No prediction yet; the run says 4 &lt;b&gt;." in html
    assert "a &lt; b" in html
    assert repr(shown) == "No prediction yet; the run says 4 <b>. (a < b)"
    assert "<small" not in predict("How many?").reveal(4)._repr_html_()


def test_a_page_without_widgets_shows_the_question() -> None:
    bundle = predict("Is a < b?", choices=["yes", "no"])._repr_mimebundle_()
    assert bundle["text/plain"] == "Your prediction: Is a < b? (yes / no)"
    assert "Your prediction: Is a &lt; b? (yes / no)" in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert predict("How many?", unit="cycles")._repr_mimebundle_()["text/plain"] == "Your prediction: How many?"


@pytest.mark.parametrize("choices", [[], ["one"], ["a", "b", "a"]])
def test_choices_that_are_none_are_refused(choices: list[str]) -> None:
    with pytest.raises(ValueError, match=re.escape(f"There is nothing to choose from in {choices}.")) as error:
        predict("Which?", choices=choices)
    assert "In: predict('Which?')" in str(error.value)
    assert "Fix: give two or more choices" in str(error.value)


def test_a_result_that_is_none_of_the_choices_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^'NCWH' is none of the choices") as error:
        predict("Which?", choices=["NCHW", "NHWC"]).reveal("NCWH")
    assert "In: predict('Which?', choices=['NCHW', 'NHWC'])" in str(error.value)
