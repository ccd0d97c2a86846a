"""Random input to every public name: a finite result in range, or one error in the house's words.

Every name of the rooms needs a row in `RESULTS` and every parameter one in `GOOD`, so that a new
one without them fails. In each call up to two arguments are spoilt; what has no business there at
all (`ODD`) is tried for every parameter.
"""

import dataclasses
import importlib
import inspect
import os
import pkgutil
import re
import warnings
from functools import partial

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

import skcal
from skcal import decision
from skcal.recalibration import PartitionCalibrator
from skcal.sketch import CalibrationSketch
from tests.forecasters import Given
from tests.fuzz import CONTAINERS, GOOD, INF, NEVER_ODD, ODD, SPOILERS
from tests.strategies import Rows, samples

matplotlib.use("Agg")
ROOMS = [
    importlib.import_module(f"skcal.{module.name}")
    for module in pkgutil.iter_modules(skcal.__path__)
    if not module.name.startswith("_")
]
PUBLIC = {name: getattr(room, name) for room in (skcal, *ROOMS) for name in room.__all__}
EMPTY = inspect.Parameter.empty
N = 12
X, Y, P = np.linspace(0, 1, N)[:, None], np.arange(N) % 2, np.linspace(0, 1, N)

# Arguments of calls in which they are not spoilt, where the default will not do.
USUAL = {
    "a": [1, 2, 4],
    "calibrator": PartitionCalibrator(),
    "confidence": 0.75,
    "distance": 0.2,
    "eps": 0.2,
    "estimator": Given(),
    "fn": 5,
    "fp": 1,
    "k": 3,
    "measure": skcal.metrics.ece,
    "n": 100,
    "n_bins": 4,
    "n_resamples": 19,
    "name": "neg_scdl",
    "params": {},
    "partitions": [([0, 1], [0.25, 0.5])],
    "scdl": 0.1,
    "sketch": CalibrationSketch(4).update([0, 1, 1], [0.2, 0.4, 0.9]),
    "theta": 3,
    "threshold": 0.3,
    "utility": [[0, -1], [-5, 0]],
    "value": 0.5,
}
QUICKER = {"confidence", "n_resamples"}  # than by their defaults
ROWS = {"y": "y", "y_true": "y", "sample_weight": "w", "mass": "w"}  # all others get predictions
PREDICTIONS = {"y_proba", "proba_a", "proba_b", "p", "q", "mean"}


# How names are used that a call alone does not try.


def use_function(function, params=None, **arguments):
    return function(**arguments, **({} if params is None else params))


def use_calibrator(make, *, p, y, q, sample_weight=None, **options):
    return make(**options).fit(p, y, sample_weight=sample_weight).predict(q)


def use_task(make, *, y_proba, pos_label=None, **table):
    task = make(**table)
    assert repr(task)
    assert task.best_response(y_proba, pos_label=pos_label).size
    return task.to_dict(), task.expected_utility(y_proba, pos_label=pos_label)


def use_scorer(make, *, y_true, sample_weight=None, params=None, **arguments):
    scorer = make(**arguments, **(params or {}))
    scorers = scorer.values() if isinstance(scorer, dict) else [scorer]
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    model = Given().fit(X, Y)
    return [score(model, X, y_true, **weights) for score in scorers]


def use_response(make, *, y, sample_weight=None, sample_utility=None, **options):
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    response = make(**options).fit(X, y, **weights)
    response.predict(X, sample_utility=sample_utility)
    score = response.score(X, y, sample_weight, sample_utility)
    return response.expected_utility(X), score, response.swap_regret(X, y)


def use_recalibrated(make, *, y, sample_weight=None, **options):
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    model = make(**options).fit(X, y, **weights)
    assert len(model.predict(X)) == N
    return model.predict_proba(X)


def use_display(cls, *, y_true, y_proba, **options):
    display = cls.from_predictions(y_true, y_proba, **options)
    assert display.figure_ is display.ax_.figure
    plt.close("all")
    return True


def use_sketch(make, *, y_true, y_proba, sample_weight=None, **options):
    sketch = make(**options).update(y_true, y_proba, sample_weight)
    both = sketch.copy().merge(make.from_dict(sketch.to_dict()))
    return sketch.scdl(), sketch.cdl(), sketch.ece(), sketch.smce(), both.cutoff()


USES = {
    "CalibrationSketch": use_sketch,
    **dict.fromkeys(skcal.display.__all__, use_display),
    "BetaCalibrator": use_calibrator,
    "DecisionResponse": use_response,
    "DecisionTask": use_task,
    "PartitionCalibrator": use_calibrator,
    "RecalibratedClassifier": use_recalibrated,
    "ShrinkageCalibrator": use_calibrator,
    "calibration_scorers": use_scorer,
    "get_scorer": use_scorer,
    "make_calibration_scorer": use_scorer,
    "neg_swap_regret_scorer": use_scorer,
    "utility_scorer": use_scorer,
}
OF_N_ROWS = {use_scorer, use_response, use_recalibrated}


def parameters_of(name):
    """How a name is used, and the defaults of all parameters of that; `EMPTY` if none."""
    use = USES.get(name, use_function)
    call = PUBLIC[name].from_predictions if use is use_display else PUBLIC[name]
    known = dict(inspect.signature(call).parameters)
    known.pop("kwargs", None)  # of matplotlib, which has its own words
    if use is not use_function:
        extra = inspect.signature(use).parameters.values()
        known |= {
            each.name: each
            for each in extra
            if each.kind is each.KEYWORD_ONLY and each.name not in {*known, "params"}
        }
    return use, {key: each.default for key, each in known.items()}


# What may come of it.


class Numbers:
    """Accepts numbers between two ends, alone or in whatever holds them, and valid proofs."""

    def __init__(self, low=0.0, high=1.0):
        self.low, self.high = low - 1e-9, high + 1e-9

    def __call__(self, result):
        if hasattr(result, "verify"):
            assert result.verify(), f"no proof: {result!r}"
            result = result.value
        if dataclasses.is_dataclass(result):
            result = [getattr(result, field.name) for field in dataclasses.fields(result)]
        if isinstance(result, dict):
            result = list(result.values())
        if isinstance(result, tuple | list):
            for item in result:
                self(item)
        elif isinstance(result, np.ndarray) and result.dtype.kind == "f":
            self(result.ravel().tolist())
        elif isinstance(result, float):
            assert self.low <= result <= self.high, f"{result!r} is not in range"


def task_or_none(result):
    if result is not None:
        assert isinstance(result, decision.DecisionTask)
        FINITE(result.utility)


def something(result):
    assert result


UNIT, FINITE, NO_BOUND = Numbers(), Numbers(-1.7e308, 1.7e308), Numbers(0, INF)
RESULTS = {
    **dict.fromkeys(skcal.metrics.__all__, UNIT),
    **dict.fromkeys(["actionable_binned_error", "bece"], Numbers(0, 2)),
    "score_decomposition": NO_BOUND,
    "DecisionResponse": FINITE,
    "DecisionTask": FINITE,
    "add_action": FINITE,
    "external_regret": FINITE,
    "realized_regret_bound": FINITE,
    "regret_bound": FINITE,
    "round_predictions": UNIT,
    "rounding_weights": UNIT,
    "swap_regret": FINITE,
    "utility_from_costs": FINITE,
    "utility_from_threshold": FINITE,
    "worst_case_task": task_or_none,
    "BetaCalibrator": UNIT,
    "PartitionCalibrator": UNIT,
    "RecalibratedClassifier": UNIT,
    "ShrinkageCalibrator": UNIT,
    "nearest_calibrated_partition": UNIT,
    "calibration_scorers": Numbers(-2, 0),
    "get_scorer": Numbers(-2, 0),
    "get_scorer_names": something,
    "make_calibration_scorer": Numbers(-2, 0),
    "neg_swap_regret_scorer": FINITE,
    "refit_calibrated": something,
    "utility_scorer": FINITE,
    "bootstrap_interval": FINITE,
    "calibration_test": FINITE,
    "compare": FINITE,
    "null_reference": FINITE,
    "calibration_distance_of_distribution": UNIT,
    "distance_lower_bound": UNIT,
    "make_hardness_instance": UNIT,
    "make_indistinguishable_pair": UNIT,
    "sample_size": something,
    "calibration_report": something,
    "sketch_report": something,
    "CalibrationSketch": UNIT,
    "sketch_from_partitions": something,
    **dict.fromkeys(skcal.display.__all__, something),
}
NO_CALL = {"CalibrationWarning", "SketchValue", "SoftSketchValue", "metrics"}
SENTENCES = (
    r"(?s)^(the )?(?P<name>\w+) must .+; got .+\.$",
    r"(?s)^The '(?P<name>\w+)' parameter of [\w.]+ must .+\. Got .+ instead\.$",
)
# What scikit-learn says, and its checks ask for, of the labels of an estimator.
OF_LABELS = (
    r"^y should be a 1d array|^Unknown label type|^Input y contains|^Found input variables with "
    r"inconsistent numbers of samples|^Only binary classification is supported|^Found array with "
    r"dim 3|^Support for labels represented as bytes|^Complex data not supported"
)
# What errors may name beside parameters: parts of tables, and what is handed on.
PARTS = {
    "utility": {"classes", "actions"},
    "params": {"n_bins", "norm"},
    "n_bins": {"sketch"},
    "partitions": {"y_true", "y_proba"},
}
IGNORED = (skcal.CalibrationWarning, DataConversionWarning)


def result_of(call, names, estimator):
    """What a call returns; None after an error in the house's words."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            for category in IGNORED:
                warnings.simplefilter("ignore", category)
            return call()
    except (ValueError, TypeError) as error:
        message = str(error)
        if estimator and re.match(OF_LABELS, message):
            return None
        found = next(filter(None, (re.match(each, message) for each in SENTENCES)), None)
        assert found, f"foreign words: {message}"
        assert found["name"] in names, f"no argument of it: {message}"
        return None


def usual(key, default, rows):
    if key in ROWS or key in PREDICTIONS:
        column = getattr(rows, ROWS.get(key, "p"))
        return np.ones(rows.y.size) if column is None and key == "mass" else column
    return USUAL[key] if default is EMPTY or (key in QUICKER and default is not None) else default


def call_of(name, random, rows):
    use, known = parameters_of(name)
    if use in OF_N_ROWS:
        rows = Rows(Y, P, rows.w if rows.w is None else np.resize(rows.w, N))
    spoilt = random.sample(sorted(known), min(len(known), random.choice([0, 1, 1, 2])))
    arguments = {}
    for key, default in known.items():
        if key in spoilt:
            odd = key not in NEVER_ODD and random.random() < 0.5
            arguments[key] = random.choice(ODD)() if odd else GOOD[key](random, rows)
        else:
            arguments[key] = usual(key, default, rows)
    params = arguments.get("params", {})
    if not isinstance(params, dict) or not all(isinstance(key, str) for key in params):
        arguments["params"] = {"nothing": 1}
    return partial(use, PUBLIC[name], **arguments)


EXAMPLES = int(os.environ.get("SKCAL_EXAMPLES", 10))
SLOW = dict.fromkeys(["lower_calibration_distance", "distcal"], 8)
SLOW |= dict.fromkeys(["calibration_report", "calibration_scorers"], 8)
SLOW |= dict.fromkeys([*skcal.display.__all__, "sketch_report", "CalibrationSketch"], 4)


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_every_name_is_tried(name):
    if name not in NO_CALL:
        assert name in RESULTS
        assert set(parameters_of(name)[1]) <= set(GOOD)


FORECASTS = {"y_proba", "proba_a", "proba_b"}
THIRDS = np.full((N, 3), 1 / 3)


@pytest.mark.parametrize("name", [n for n in RESULTS if FORECASTS & {*parameters_of(n)[1]}])
def test_three_columns_are_answered_with_what_there_is(name):
    use, known = parameters_of(name)
    arguments = {key: usual(key, default, Rows(Y, P, None)) for key, default in known.items()}
    arguments |= dict.fromkeys(FORECASTS & set(known), THIRDS)
    with pytest.raises(ValueError, match=r"columns?\b.*\(12, 3\)") as error:
        use(PUBLIC[name], **arguments)
    for choice in ("classwise", "top_label"):
        assert (choice in str(error.value)) == takes(choice, use, name, arguments)
    assert "multiclass" in known or "multiclass" not in str(error.value)


def takes(multiclass, use, name, arguments):
    """Whether a call with three columns comes to something then."""
    try:
        use(PUBLIC[name], **arguments | {"y_true": np.arange(N) % 3, "multiclass": multiclass})
    except (AttributeError, TypeError, ValueError):
        return False
    return True


def fuzz(name, examples):
    use, known = parameters_of(name)
    names = set(known).union(*(PARTS.get(key, ()) for key in known))
    if use is use_scorer:
        names.add("y_proba")  # what the estimator predicts

    @settings(max_examples=max(1, examples // SLOW.get(name, 1)))
    @given(random=st.randoms(use_true_random=False), rows=samples(max_size=8))
    def run(random, rows):
        call = call_of(name, random, rows)
        note(call)
        result = result_of(call, names, estimator="estimator" in known)
        if result is not None:
            RESULTS[name](result)

    run()


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_a_result_in_range_or_one_clear_error(name):
    fuzz(name, EXAMPLES)


@pytest.mark.verify
@pytest.mark.parametrize("name", sorted(RESULTS))
def test_many_calls(name):
    fuzz(name, 40 * EXAMPLES)


@pytest.mark.parametrize("wrap", [*CONTAINERS, *SPOILERS])
def test_each_container_holds_what_it_is_for(wrap):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert wrap(np.array([0, 1, 1])) is not None
