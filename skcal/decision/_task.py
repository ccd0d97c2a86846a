"""Decision tasks: a utility table with its best response."""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from skcal._validation import check_probabilities, equal, fail, is_conventional, shown, warn
from skcal.decision._tables import read_table


class DecisionTask:
    """A table of what every action is worth under every true class.

    ``utility[k, a]`` is the value of action ``a`` when the truth is class ``k``: rows are true
    classes in the order of ``classes``, columns are actions, higher is better. This is the layout
    of a confusion matrix: with one action for each class, the mean realised utility is
    ``(confusion_matrix / n * utility).sum()``. The cost matrix C(i, j) of [1]_ is its negated
    transpose.

    Parameters
    ----------
    utility : dict of dicts, DataFrame or array-like of shape (n_classes, n_actions)
        The labelled forms are the safe ones, since a square array read transposed gives the
        opposite decision without an error: ``{class: {action: value}}``, or a DataFrame with
        classes as index and actions as columns. Costs are negative utilities.
    classes : array-like of shape (n_classes,), default=None
        The classes, in the order of the rows of an array. By default the sorted names of a
        labelled table, and 0, 1, ... for an array.
    actions : array-like of shape (n_actions,), default=None
        Names of the actions, in the order of the columns. By default the names of a labelled
        table, and the classes for a square array.

    Attributes
    ----------
    utility : ndarray of shape (n_classes, n_actions), read-only
    classes : ndarray of shape (n_classes,)
    actions : ndarray of shape (n_actions,)
    thresholds_ : ndarray of shape (n_chosen - 1,)
        Two classes only: where the best action changes as the probability of ``classes[1]`` grows
        from 0 to 1. Each is the exact break point of the table, rounded once.
    chosen_ : list
        Two classes only: the best action before, between and after the thresholds.

    Raises
    ------
    ValueError
        If the table does not fit the classes or actions, repeats a name, or holds NaN or infinity.

    See Also
    --------
    DecisionResponse : The estimator that acts on the predictions of a classifier.
    utility_from_costs : A table from the costs of the two errors.

    References
    ----------
    .. [1] C. Elkan, "The foundations of cost-sensitive learning", IJCAI 2001.

    Examples
    --------
    >>> from skcal import DecisionTask
    >>> task = DecisionTask({"sick": {"treat": 0, "wait": -5}, "well": {"treat": -1, "wait": 0}})
    >>> task.best_response([[0.1, 0.9], [0.3, 0.7]])  # columns: sick, well
    array(['wait', 'treat'], dtype=object)
    >>> float(1 - task.thresholds_[0])  # treat when sickness is at least this likely
    0.16666666666666663
    """

    def __init__(self, utility, classes=None, actions=None):
        if isinstance(utility, DecisionTask):
            if actions is None and (classes is None or list(classes) == utility.classes.tolist()):
                self.__setstate__(utility.__dict__)
                return
            utility = utility.to_dict()
        table, classes, actions = read_table(utility, classes, actions)
        envelope = _upper_envelope(table) if classes.size == 2 else None
        self._freeze(table, classes, actions, envelope)
        _warn_dominated(self)

    @classmethod
    def _from_kinks(cls, utility, classes, actions, kinks, chosen):
        """A two-class task whose break points are known before the rounding of its table."""
        task = object.__new__(cls)
        envelope = Envelope(kinks, chosen, np.minimum(chosen[:-1], chosen[1:]))
        task._freeze(utility, classes, np.array(actions), envelope)
        return task

    def _named(self, classes, positive):
        """The same two-class task for other names of the classes; row 1 is that of ``positive``."""
        kinks, chosen, ties = self._envelope
        utility, envelope = self.utility, self._envelope
        if positive == 0:
            utility, envelope = utility[::-1], Envelope(1 - kinks[::-1], chosen[::-1], ties[::-1])
        task = object.__new__(type(self))
        task._freeze(utility, classes, self.actions, envelope)
        return task

    def _freeze(self, utility, classes, actions, envelope):
        """Set all there is to set, in copies that nobody can write to."""
        utility, classes, actions = (np.array(part) for part in (utility, classes, actions))
        envelope = None if envelope is None else Envelope(*map(np.array, envelope))
        for array in (utility, classes, actions, *(envelope or ())):
            array.flags.writeable = False
        self.__dict__.update(utility=utility, classes=classes, actions=actions, _envelope=envelope)

    def __setstate__(self, state):
        self._freeze(state["utility"], state["classes"], state["actions"], state["_envelope"])

    def __setattr__(self, name, value):
        raise AttributeError(f"DecisionTask is immutable: make a new one to change {name!r}")

    def __delattr__(self, name):
        raise AttributeError(f"DecisionTask is immutable: {name!r} cannot be deleted")

    @property
    def thresholds_(self):
        """Where the best action changes as the probability of ``classes[1]`` grows."""
        if self._envelope is None:
            raise AttributeError("thresholds_ exists for two classes only")
        return self._envelope.thresholds

    @property
    def chosen_(self):
        """The best action before, between and after the thresholds."""
        if self._envelope is None:
            raise AttributeError("chosen_ exists for two classes only")
        return self.actions[self._envelope.chosen].tolist()

    @property
    def ranges(self):
        """How much is at stake under each class: the range of each row, shape (n_classes,)."""
        return np.ptp(self.utility, axis=1)

    def best_response(self, y_proba, *, pos_label=None):
        """The action of highest expected utility; ties go to the action listed first.

        With two classes the probability is compared with `thresholds_`, so ties are exact.

        Parameters
        ----------
        y_proba : array-like of shape (n,), (n, 1) or (n, n_classes)
            Probabilities. Columns are in the order of ``classes``. A vector holds the probability
            of ``pos_label``.
        pos_label : label, default=None
            The class that a vector of probabilities speaks of; 1 or True when the classes are
            0/1, -1/1 or boolean.

        Returns
        -------
        ndarray of shape (n,)
            Names of actions.
        """
        return self.actions[self._decide(self._matrix(y_proba, pos_label))]

    def expected_utility(self, y_proba, *, pos_label=None):
        """What each action is worth if the probabilities are right.

        Parameters
        ----------
        y_proba : array-like of shape (n,), (n, 1) or (n, n_classes)
            As in `best_response`.
        pos_label : label, default=None
            As in `best_response`.

        Returns
        -------
        ndarray of shape (n, n_actions)
        """
        return self._matrix(y_proba, pos_label) @ self.utility

    def _decide(self, proba):
        """Columns of the best actions; checked probabilities (n,) of ``classes[1]``, or (n, K)."""
        if self.classes.size != 2:
            return first_best(proba @ self.utility, proba @ np.abs(self.utility))
        p = proba if proba.ndim == 1 else proba[:, 1]
        thresholds, chosen, ties = self._envelope
        place = np.searchsorted(thresholds, p, "left")
        columns = chosen[place]
        tied = np.flatnonzero(np.append(thresholds, np.nan)[place] == p)
        columns[tied] = ties[place[tied]]
        return columns

    def _matrix(self, y_proba, pos_label):
        """Probabilities as a matrix with one column a class."""
        p, _ = check_probabilities(y_proba, n_columns=self.classes.size)
        if p.ndim == 2:
            return p
        positive = self._positive_class(pos_label)
        return np.column_stack([1 - p, p] if positive == 1 else [p, 1 - p])

    def _positive_class(self, pos_label):
        """Row of the class that a vector of probabilities speaks of."""
        if self.classes.size != 2:
            must = f"have one column for each of the classes {shown(self.classes)}"
            fail("y_proba", must, "one column")
        if pos_label is None:  # the classes of a table are never told apart by their order alone
            if is_conventional(self.classes):
                return int(np.argmax(self.classes))
            fail("pos_label", f"name one of the classes {shown(self.classes)}", "None")
        found = np.flatnonzero(equal(self.classes, pos_label))
        if found.size != 1:
            fail("pos_label", f"name one of the classes {shown(self.classes)}", repr(pos_label))
        return int(found[0])

    def to_dict(self):
        """The labelled table.

        Returns
        -------
        dict of dicts
            ``{class: {action: value}}``.
        """
        rows = zip(self.classes.tolist(), self.utility.tolist(), strict=True)
        return {label: dict(zip(self.actions.tolist(), row, strict=True)) for label, row in rows}

    def __repr__(self):
        rows = [["", *map(str, self.actions)]]
        rows += [
            [str(label), *(f"{value:g}" for value in row)]
            for label, row in zip(self.classes, self.utility, strict=True)
        ]
        width = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(c.rjust(w) for c, w in zip(row, width, strict=True)) for row in rows)
        return "DecisionTask(utility, rows: true classes, columns: actions)\n" + "\n".join(lines)


def first_best(values, sizes):
    """Column of the largest value in each row; of those within rounding errors, the first.

    ``sizes`` are sums of absolute terms: they bound the rounding error of each value, so that one
    huge negative utility does not blur the others.
    """
    error = 4 * np.finfo(float).eps * sizes
    best = values.argmax(axis=1)[:, None]
    return np.argmax(values + error >= np.take_along_axis(values - error, best, axis=1), axis=1)


class Envelope(NamedTuple):
    """Best columns of two-class tables as p grows: between the thresholds, and at them."""

    thresholds: np.ndarray
    chosen: np.ndarray
    ties: np.ndarray


def _upper_envelope(table):
    """Envelope of the lines (1 - p) U[0, a] + p U[1, a] over p in [0, 1].

    In rational arithmetic, so that a threshold is the exact break point of the table, rounded once,
    and a tie is a tie: of all actions that are best at a threshold the first listed wins.
    """
    at_zero, at_one = ([Fraction(value) for value in row] for row in table.tolist())
    actions = range(len(at_zero))
    chosen = [max(actions, key=lambda a: (at_zero[a], -a))]
    thresholds, ties = [], []
    while True:
        now, crossing = chosen[-1], {}
        for a in actions:
            rise = (at_one[a] - at_zero[a]) - (at_one[now] - at_zero[now])
            if rise > 0 and at_one[a] >= at_one[now]:
                crossing[a] = (at_zero[now] - at_zero[a]) / rise
        if not crossing:
            break
        p = min(crossing.values())
        height = [(1 - p) * at_zero[a] + p * at_one[a] for a in actions]
        first = height.index(height[now])
        if p == 1 and first == now:  # others catch up at certainty: the answer stays
            break
        ties.append(first)
        thresholds.append(float(p))
        chosen.append(max((a for a in crossing if crossing[a] == p), key=lambda a: at_one[a]))
    return Envelope(np.array(thresholds), np.array(chosen), np.array(ties, dtype=int))


def _warn_dominated(task):
    """An action that is never better than another one is legal, but seldom meant."""
    for a, column in enumerate(task.utility.T):
        beaten = np.all(task.utility >= column[:, None], axis=0)
        beaten[a] = False
        if beaten.any():
            name, other = task.actions[a], task.actions[np.argmax(beaten)]
            warn(f"action {name!r} is never better than action {other!r}.")
