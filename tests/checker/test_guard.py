"""Calling a learner's function: whatever it does, one outcome."""

import _thread
import contextlib
import json
import signal
import sys
import threading
import time

import pytest

from convlab.checker.guard import Outcome, Printed, call, in_one_line
from convlab.checker.memory import measured


def attempt(function, *arguments, seconds=20.0, log=None):
    return call(function, arguments, seconds, log or Printed())


def test_a_value_is_passed_on():
    assert attempt(lambda a, b: [a, b], 1, 2) == Outcome("returned", [1, 2])


def test_an_exception_is_told_with_its_line():
    def answer(rows):
        total = 0
        return rows[3] + total

    outcome = attempt(answer, [1, 2])
    line = answer.__code__.co_firstlineno + 2
    assert outcome.ended == "raised"
    assert outcome.error == "IndexError"
    assert outcome.sentence == (f"raised IndexError: list index out of range in line {line}, `return rows[3] + total`")


def test_the_line_is_the_learners_even_when_a_library_raises():
    def answer(text):
        return json.loads(text)

    line = answer.__code__.co_firstlineno + 1
    assert attempt(answer, "{").sentence.endswith(f" in line {line}, `return json.loads(text)`")


def test_the_line_is_the_learners_even_where_the_checker_wraps_the_function():
    def answer(rows):
        return rows[3]

    line = answer.__code__.co_firstlineno + 1
    assert attempt(measured(answer), [1, 2]).sentence.endswith(f" in line {line}, `return rows[3]`")
    assert attempt(measured(int), "seven").sentence.endswith("base 10: 'seven'")


def test_a_function_without_lines_has_no_place():
    assert attempt(int, "seven").sentence == ("raised ValueError: invalid literal for int() with base 10: 'seven'")


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, GeneratorExit, MemoryError, RecursionError])
def test_even_exceptions_that_end_programs_are_outcomes(error):
    def answer():
        raise error

    assert attempt(answer).sentence.startswith(f"raised {error.__name__} in line ")


def test_an_exception_without_usable_text_is_told_all_the_same():
    class SilentError(Exception):
        def __str__(self):
            raise ValueError

    def answer():
        raise SilentError

    assert attempt(answer).sentence.startswith("raised SilentError in line ")


def test_long_and_broken_texts_are_cut_to_one_line():
    def answer():
        raise ValueError("a\nb" + "c" * 1000)

    sentence = attempt(answer).sentence
    assert "raised ValueError: a b" in sentence
    assert "\n" not in sentence
    assert len(sentence) < 300
    assert in_one_line("x" * 7, limit=3) == "xxx…"


def test_not_implemented_is_an_outcome_of_its_own():
    def answer():
        raise NotImplementedError

    assert attempt(answer).ended == "unwritten"


def test_endless_recursion_is_an_outcome():
    def answer():
        return answer()

    assert attempt(answer).sentence.startswith("raised RecursionError: maximum recursion depth")


def test_an_endless_loop_is_stopped_and_located():
    def answer():
        n = 0
        while True:
            n += 1

    outcome = attempt(answer, seconds=0.3)
    first = answer.__code__.co_firstlineno
    assert outcome.ended == "timeout"
    assert outcome.sentence.startswith("was stopped after 0.3 seconds in line ")
    assert any(f"in line {first + i}, `" in outcome.sentence for i in (2, 3))
    assert not running()


def test_an_endless_loop_that_catches_exceptions_is_stopped_too():
    def answer():
        while True:
            with contextlib.suppress(Exception):
                sum(range(100))

    assert attempt(answer, seconds=0.2).ended == "timeout"
    assert not running()


def test_what_cannot_be_stopped_is_said():
    release = threading.Event()
    outcome = attempt(lambda: release.wait(60), seconds=0.2)
    release.set()
    assert outcome.ended == "timeout"
    assert outcome.sentence.endswith("; it cannot be interrupted there: restart the kernel")


def test_an_interrupt_stops_the_answer_and_goes_on_to_the_caller():
    started = threading.Event()

    def answer():
        started.set()
        while True:
            pass

    def interrupt():
        started.wait()
        time.sleep(0.1)  # so that it is the waiting which is interrupted
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        else:
            _thread.interrupt_main()

    helper = threading.Thread(target=interrupt)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job inherits it ignored
    try:
        helper.start()
        with pytest.raises(KeyboardInterrupt):
            attempt(answer)
    finally:
        signal.signal(signal.SIGINT, before)
    helper.join()
    assert not running()


def running():
    """The answers that still run; one that was told to stop may need a moment to leave."""
    threads = [thread for thread in threading.enumerate() if thread.name == "answer"]
    for thread in threads:
        thread.join(5)
    return [thread for thread in threads if thread.is_alive()]


def test_printing_is_caught_and_cut():
    log = Printed(limit=10)

    def answer():
        print("a" * 8)
        print("b" * 100_000, file=sys.stderr)

    before = sys.stdout
    attempt(answer, log=log)
    assert log.text == "a" * 8 + "\nb"
    assert log.omitted == 100_000
    assert sys.stdout is before
