"""Utility tables as users write them: arrays, dicts of dicts and DataFrames."""

import numpy as np

from skcal._validation import check_classes, fail, numbers, shown

LARGEST = 1e307


def read_table(utility, classes, actions):
    """Table, classes and actions from any of the accepted forms."""
    labelled = _labelled(utility)
    if labelled is not None:
        utility, rows, columns = labelled
        classes = check_classes(_sorted(rows) if classes is None else classes, "classes")
        utility = utility[_positions(rows, classes, "classes", columns)]
        actions = columns if actions is None else _names(actions)
        utility = utility[:, _positions(columns, actions, "actions", rows)]
    if np.ma.is_masked(utility):
        fail("utility", "hold no missing values", "masked entries")
    table = numbers(utility)
    if table is None:
        fail("utility", "be a table of numbers", f"{type(utility).__name__} {_brief(utility)}")
    if table.ndim == 3:
        fail(
            "utility",
            "have shape (n_classes, n_actions); per-row utilities go to predict and score as "
            "sample_utility",
            f"shape {table.shape}",
        )
    if table.ndim != 2 or not table.size:
        fail("utility", "have shape (n_classes, n_actions)", f"shape {table.shape}")
    if np.isfinite(table).all() and np.abs(table).max() > LARGEST:
        extreme = table.flat[np.abs(table).argmax()]
        fail("utility", f"lie within {LARGEST:g} of 0 (differences must be finite)", f"{extreme:g}")
    if not np.isfinite(table).all():
        must = "be finite (to forbid an action give it a very low utility)"
        fail("utility", must, f"{table[~np.isfinite(table)][0]}")
    classes = check_classes(range(table.shape[0]) if classes is None else classes, "classes")
    if classes.size != table.shape[0]:
        hint = "; did you mean utility.T?" if classes.size == table.shape[1] else ""
        must = f"have one row for each of the {classes.size} classes {shown(classes)}"
        fail("utility", must, f"{table.shape[0]} rows (shape {table.shape}){hint}")
    if actions is None:
        if table.shape[0] != table.shape[1]:
            must = f"name the {table.shape[1]} columns of a table that is not square (or label it)"
            fail("actions", must, "None")
        actions = classes
    return table, classes, _action_names(actions, classes, table.shape[1])


def _labelled(utility):
    """(values, row names, column names) of a dict of dicts or a DataFrame, else None."""
    if hasattr(utility, "columns") and hasattr(utility, "index"):
        return np.asarray(utility), list(utility.index), list(utility.columns)
    if not isinstance(utility, dict):
        return None
    rows = list(utility)
    if not rows or not all(isinstance(row, dict) and row for row in utility.values()):
        fail("utility", "map each class to a dict of actions", repr(utility))
    columns = list(utility[rows[0]])
    for label, row in utility.items():
        if set(row) != set(columns):
            must = f"give the same actions {shown(columns)} to every class"
            fail("utility", must, f"{shown(list(row))} for class {label!r}")
    values = [[utility[label][action] for action in columns] for label in rows]
    return np.array(values, dtype=object), rows, columns


def _sorted(names):
    try:
        return sorted(names)
    except TypeError:
        return fail("utility", "name classes of one type", shown(names))


def _positions(names, wanted, which, others):
    """Place of every wanted name, when the two sets agree."""
    wanted = [_plain(name) for name in wanted]
    if len(set(names)) != len(names):
        fail("utility", f"name each of the {which} once", shown(names))
    if set(names) != set(wanted):
        hint = "; did you mean its transpose?" if set(others) == set(wanted) else ""
        if which == "classes" and wanted in ([0, 1], [0.0, 1.0]):
            hint += " (cross_val_predict(method='predict_proba') encodes the labels as 0 and 1)"
        fail("utility", f"name the {which} {shown(wanted)}", f"{shown(names)}{hint}")
    return [names.index(name) for name in wanted]


def _action_names(actions, classes, n_actions):
    """An array that never truncates or converts a name: the classes themselves, or objects."""
    names = _names(actions)
    if len(names) != n_actions:
        fail("actions", f"name the {n_actions} columns of utility", f"{len(names)}: {shown(names)}")
    if len(set(names)) != len(names):
        fail("actions", "be distinct", shown(names))
    if names == classes.tolist():
        return classes
    array = np.empty(n_actions, dtype=object)
    for k, name in enumerate(names):
        array[k] = _plain(name)
    return array


def _names(actions):
    try:
        names = list(actions)
        set(names)
    except TypeError:
        fail("actions", "be names that can be compared (hashable)", f"{actions!r:.50}")
    return names


def _plain(name):
    return name.item() if isinstance(name, np.generic) else name


def _brief(value):
    text = repr(value)
    return text if len(text) < 60 else text[:57] + "..."
