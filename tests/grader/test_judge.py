"""Answers are judged as the check judges them, whatever they do to the process that they run in."""

import dataclasses

import numpy as np
import pytest

from convlab import course
from convlab.checker.cells import cells_by_id, read_notebook
from convlab.checker.check import judge as check
from convlab.checker.exercises import EXERCISES
from convlab.checker.selftest import as_learner_writes
from convlab.grader import asking, isolation, judge, setting
from convlab.grader.isolation import LEVELS, Limits, best
from convlab.grader.process import EndedError

SEED = 71
LIMITS = Limits()


def cells(folder):
    paths = [path for name, path in course.shipped(folder).items() if name.endswith(".ipynb")]
    found = {each: copies[0].source for path in paths for each, copies in cells_by_id(read_notebook(path)).items()}
    return {each: source for each, source in found.items() if each in EXERCISES}


SOLUTIONS, STUBS = cells("solutions"), cells("exercises")


def judged(exercise, text, limits=LIMITS, earlier=(), level=None):
    return judge.judge(exercise, text, SEED, limits, level or best(), earlier)


@pytest.mark.parametrize("exercise", SOLUTIONS)
def test_right_answers_earn_all(exercise):
    mark = judged(exercise, SOLUTIONS[exercise])
    assert (mark.status, mark.share, mark.misconception) == ("ok", 1.0, None), mark
    assert len(mark.cases) == len(EXERCISES[exercise].cases(np.random.default_rng(SEED)))


@pytest.mark.parametrize("exercise", STUBS)
def test_stubs_are_not_attempted(exercise):
    mark = judged(exercise, STUBS[exercise])
    assert (mark.status, mark.share) == ("not_attempted", 0.0), mark


KERNELS = [record.id for record in EXERCISES.values() if record.kind == "kernel"]


OTHERS = [pytest.param(each, marks=pytest.mark.slow) for each in KERNELS[2:]]  # all mutants are tried in turn


@pytest.mark.parametrize("exercise", [*KERNELS[:2], *OTHERS])
def test_kernels_are_told_what_the_check_tells(exercise):
    """The same sentence, misconception and hint: output, faults and counters have all come through."""
    record = EXERCISES[exercise]
    mutant = record.mutants[len(record.mutants) // 2]
    mark = judged(exercise, f"%%cuda {record.function}\n{mutant.ways[0]}")
    verdict = check(record, as_learner_writes(record, f"\n{mutant.ways[0]}", None), SEED)
    assert (mark.status, mark.misconception) == (verdict.status, mutant.misconception)
    assert mark.sentence == verdict.message
    assert mark.hints == (mutant.hint, *record.hints)


def test_a_function_is_told_what_the_check_tells():
    text = SOLUTIONS["01-loops"].replace("w[k, c, r, s]", "w[k, c, -1 - r, -1 - s]")
    assert text != SOLUTIONS["01-loops"]
    mark = judged("01-loops", text)
    namespace = {"np": np}
    exec(text, namespace)
    verdict = check(EXERCISES["01-loops"], namespace["conv2d_loops"], SEED)
    assert mark.misconception == verdict.misconception
    assert mark.sentence == verdict.message
    assert [case.status for case in mark.cases].count("ok") == verdict.right


def test_values_are_told_what_the_check_tells_and_never_what_is_right():
    text = SOLUTIONS["04-bounds"].replace("275.4", "137.7")
    assert text != SOLUTIONS["04-bounds"]
    namespace = {}
    exec(text, namespace)
    verdict = check(EXERCISES["04-bounds"], namespace["bounds"], SEED)
    mark = judged("04-bounds", text)
    assert (mark.sentence, mark.misconception) == (verdict.message, verdict.misconception or None)
    assert [case.words for case in mark.cases] == [""]


def test_a_budget_of_memory_is_held():
    padded = """
def convolve(image, weights, stride, padding, mode):
    modes = {"zero": "constant", "replicate": "edge", "reflect": "reflect"}
    framed = np.pad(image, [(each, each) for each in padding] if isinstance(padding, tuple) else padding, modes[mode])
    (height, width), (r, s) = framed.shape, weights.shape
    step = stride if isinstance(stride, tuple) else (stride, stride)
    rows, columns = (height - r) // step[0] + 1, (width - s) // step[1] + 1
    y = np.zeros((rows, columns))
    for p in range(rows):
        for q in range(columns):
            y[p, q] = (framed[p * step[0] : p * step[0] + r, q * step[1] : q * step[1] + s] * weights).sum()
    return y
"""
    mark = judged("02-no-copy", padded)
    assert mark.status == "wrong"
    assert "bytes of memory at the peak" in mark.sentence


def test_an_input_that_is_changed_is_told():
    text = "def conv2d_loops(x, w, bias, stride, padding):\n    bias += 1\n    return x\n"
    assert judged("01-loops", text).sentence == "conv2d_loops changed its input bias; leave the inputs as they are."


def test_what_an_answer_uses_of_earlier_ones_is_there():
    double, half = "def double(x): return half(x) * 4\n", "def half(x): return x / 2\n"
    earlier = ["%%cuda mine\n__global__ void f() {}", "unused = 1\nraise ValueError\n", double, half]
    text = SOLUTIONS["01-one-output"].replace("return total", "return double(total) / 2")
    assert judged("01-one-output", text, earlier=earlier).status == "ok"
    assert "NameError: name 'double' is not defined" in judged("01-one-output", text).sentence
    # What is not used is not run: it might not end.
    assert judged("01-one-output", SOLUTIONS["01-one-output"], earlier=["while True: pass"]).status == "ok"


def test_lines_of_ipython_and_calls_of_the_check_do_no_harm():
    text = f"%matplotlib inline\n!ls\n{SOLUTIONS['01-one-output']}\ncl.check('01-one-output', one_output)\n"
    assert judged("01-one-output", text).status == "ok"


def test_the_size_of_a_layer_may_be_asked_for_where_that_is_allowed(monkeypatch):
    text = SOLUTIONS["04-attainable"].replace("n, c, h, width", "cl.ConvSpec\n    n, c, h, width")
    assert "ConvSpec" in text
    assert judged("04-attainable", text).status == "ok"
    record = dataclasses.replace(EXERCISES["04-attainable"], allows=("numpy",))
    monkeypatch.setitem(EXERCISES, "04-attainable", record)
    assert judged("04-attainable", text).status == "error"


def test_each_right_case_earns_its_part_where_the_record_says_so(monkeypatch):
    text = "calls = []\ndef one_output(*given):\n    calls.append(1)\n"
    text += "    return right(*given) if len(calls) < 4 else 0.0\n"
    text += SOLUTIONS["01-one-output"].replace("def one_output", "def right")
    assert judged("01-one-output", text).share == 0.0
    record = dataclasses.replace(EXERCISES["01-one-output"], partial=True)
    monkeypatch.setitem(EXERCISES, "01-one-output", record)
    mark = judged("01-one-output", text)
    assert (mark.status, mark.share) == ("wrong", 3 / 6)
    assert [case.status for case in mark.cases] == ["ok"] * 3 + ["wrong"] * 3


def test_a_failure_of_the_grader_is_no_zero_of_the_student(monkeypatch):
    def start(*_):
        raise EndedError(125, "sandbox: no room")

    level = best()
    monkeypatch.setattr(judge.Worker, "greet", start)
    mark = judged("01-one-output", "", level=level)
    assert mark.needs_human
    assert "its worker did not start" in mark.sentence


def test_a_failure_in_the_process_of_a_kernel_is_the_grader_s(monkeypatch):
    launch_of = asking.kernel.launch_of

    def broken(*given):
        return dataclasses.replace(launch_of(*given), output="nonsense")

    monkeypatch.setattr(asking.kernel, "launch_of", broken)
    mark = judged("03-index", SOLUTIONS["03-index"])
    assert mark.needs_human
    assert "KeyError: 'nonsense'" in mark.sentence


def test_a_compiler_that_is_missing_is_no_mistake_of_the_student(monkeypatch):
    environment = isolation._environment
    hidden = {"CONVLAB_HIDE_NVRTC": "1"}
    monkeypatch.setattr(isolation, "_environment", lambda walls: environment(walls) | hidden)
    mark = judged("03-index", SOLUTIONS["03-index"])
    assert mark.needs_human
    assert "NVRTC is hidden" in mark.sentence


def test_sentences_tell_nothing_of_folders():
    text = "def one_output(*given): raise ValueError('/srv/a/secret.txt and C:\\\\Users\\\\me\\\\x.txt, 3/4/5')"
    told = judged("01-one-output", text).sentence
    assert "…/secret.txt and …/x.txt, 3/4/5" in told
    assert "/root" not in told
    assert "Users" not in told


def test_the_instructor_s_cells_come_before_an_answer():
    assert setting.setting("03-mapping")[0].startswith("import numpy as np")
    assert not any(text.startswith("%%") for text in setting.setting("03-mapping"))
    assert setting.setting("00-one-line") == setting._PLAIN


def test_the_plain_level_judges_alike():
    plain = LEVELS[-1]
    assert judged("01-one-output", SOLUTIONS["01-one-output"], level=plain).status == "ok"
    assert judged("01-one-output", "def one_output(*given): return 0.0", level=plain).status == "wrong"
    assert judged("01-one-output", "while True: pass", Limits(slowness=0.1), level=plain).status == "timeout"
