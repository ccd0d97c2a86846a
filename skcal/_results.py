"""The base class of certificates: a number together with its proof."""

import math
from dataclasses import dataclass, fields
from html import escape
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """A value with the arrays that prove it.

    Subclasses add their witness and bounds as fields and say in `verify` how they imply the value.

    Attributes
    ----------
    value : float
        What the plain call of the measure returns.
    """

    value: float

    def __float__(self) -> float:
        return float(self.value)

    def verify(self) -> bool:
        """Recompute the value from the stored proof.

        Returns
        -------
        bool
            True when the stored arrays imply the stored value.
        """
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """The fields as plain numbers, strings and lists, ready for JSON.

        JSON has no word for infinity and NaN: they become None.

        Returns
        -------
        dict
        """
        return {field.name: plain(getattr(self, field.name)) for field in fields(self)}

    def __repr__(self) -> str:
        shown = ", ".join(f"{f.name}={brief(getattr(self, f.name))}" for f in fields(self))
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        """The same as a table, for notebooks."""
        left = 'style="text-align: left"'
        whole = 'style="text-align: left; white-space: pre-wrap"'
        shown = ((field.name, escape(brief(getattr(self, field.name)))) for field in fields(self))
        rows = "".join(
            f'<tr><th scope="row" {left}>{name}</th><td {whole}>{text}</td></tr>'
            for name, text in shown
        )
        return f"<table><caption>{type(self).__name__}</caption>{rows}</table>"


def plain(value: Any) -> Any:
    """Arrays to lists and NumPy scalars to Python numbers, in containers and certificates too."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if isinstance(value, np.ndarray | np.generic):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


def brief(value: Any) -> str:
    """One short word for a field: large arrays show their shape only."""
    if isinstance(value, np.ndarray) and value.size > 4:
        return f"<array {value.shape}>"
    if isinstance(value, tuple):
        return f"({', '.join(map(brief, value))})"
    if isinstance(value, float):
        return f"{value:.6g}"
    return repr(value.tolist()) if isinstance(value, np.ndarray | np.generic) else repr(value)
