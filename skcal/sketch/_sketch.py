"""The sketch: sums over cells of the predictions, which add up over chunks and machines."""

import numpy as np

from skcal._numerics._bins import cell_sums
from skcal._reading import fail, fail_parameter, read, shown
from skcal._results import plain
from skcal._validation import check_classes, check_sample, weighted_sample
from skcal.sketch import _stored, _values
from skcal.sketch._cells import NONE, Cells, joined, see
from skcal.sketch._chunks import check_empty, names_of_chunk, promoted, weights_of_chunk
from skcal.sketch._settings import check_pos_label, negative_in, negative_of, power_of_two, whole

MOST_BINS = 2**22  # 340 MB


class CalibrationSketch:
    """A summary of forecasts and outcomes that merges, for data larger than memory.

    It keeps sums over a fine grid of predictions, however many rows it has seen, and the prediction
    of each cell whose rows are tied. Sketches of parts add up to the sketch of the whole, in any
    order. From it follow SCDL and every soft-binned decision loss exactly, and the other measures
    with explicit bounds. When the rows of every cell are tied, as rounded predictions are, each
    measure is that of the rows; `smece` and `distcal` keep the error of their own computation, and
    are not ``exact`` unless their ends happen to meet.

    Parameters
    ----------
    n_bins : int, default=2**16
        A power of two from 2 to 2**22. SCDL is exact when it balances at a grid of at most
        ``n_bins`` steps, as all do that are at least 1 / n_bins. Errors of other measures are of
        the order of 1 / n_bins.
    pos_label : label, default=None
        The positive class. None means 1 for labels within {0, 1} or {-1, 1}, and True.
    labels : array-like of shape (2,), default=None
        The labels in the order of the columns of ``y_proba``; by default sorted. Needed where
        chunks have two columns and may lack one of the labels.

    Attributes
    ----------
    n_bins : int
    n_rows : int
        Rows seen, those of weight 0 included.
    n_parts : int
        Calls of `update` seen, empty chunks included. With ``n_rows`` it tells whether a chunk was
        lost or came twice.
    parts : frozenset of str
        Names of the chunks that were given one.
    weighted : bool
        Whether a chunk had weights.
    neg_label : label
        The other class; None as long as no row of it was seen.

    Notes
    -----
    Takes 80 bytes for each of ``n_bins`` (5 MB by default); each update costs O(rows + n_bins).
    Predictions are ties when they are the same number, to the last bit; rows of weight 0 are left
    out of that, as of everything but ``n_rows``. Bin edges are those of the floating type of all
    chunks together, as `numpy.concatenate` has it; integers count as double precision, and empty
    chunks have no type. One sketch is not to be updated from several threads at once: let each
    thread make its own, and merge them.

    Examples
    --------
    >>> from skcal.sketch import CalibrationSketch
    >>> monday = CalibrationSketch().update([0, 1], [0.5, 0.5])
    >>> tuesday = CalibrationSketch().update([1, 1], [0.5, 0.5])
    >>> week = monday + tuesday
    >>> week
    CalibrationSketch(n_rows=4, n_parts=2, scdl=0.125)
    >>> week.soft_cdl(4).value, week.base_rate
    (0.0, 0.75)
    """

    def __init__(self, n_bins=2**16, *, pos_label=None, labels=None):
        self.n_bins = power_of_two(n_bins, MOST_BINS, "CalibrationSketch")
        self._pos_label = check_pos_label(pos_label)
        self._labels = None if labels is None else check_classes(labels).tolist()
        self.neg_label = negative_of(self._labels, self._pos_label)
        self.weighted = False
        self.n_rows = self.n_parts = 0
        self._squares = 0.0  # sum of the squared weights
        self.parts = frozenset()
        self._mass, self._moved = np.zeros((2, 2 * self.n_bins + 1, 2))
        self._only = np.full(2 * self.n_bins + 1, NONE)
        self._precision = None  # the floating type of the predictions, once there are any

    def update(self, y_true, y_proba, sample_weight=None, *, part=None):
        """Add the rows of a chunk.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            Labels of two classes, or one of them; the same two in every chunk. An empty chunk
            counts as a part.
        y_proba : array-like of shape (n,), (n, 1) or (n, 2)
            Probability of the positive class in [0, 1], or one column for each label.
        sample_weight : array-like of shape (n,), default=None
            Non-negative weights, on one scale in all chunks. They may be all 0 in some.
        part : str, default=None
            Name of the chunk, such as "2024-01". A name that comes twice is an error, here and in
            `merge`.

        Returns
        -------
        CalibrationSketch
            The sketch itself.

        Raises
        ------
        ValueError
            If an argument is not of this form, or the labels do not go with those of earlier
            chunks; the message names it. The sketch is then as it was.
        """
        names = names_of_chunk(part)
        self._refuse_repeated(names)
        y = read(y_true, "y_true")
        if y.shape[0]:
            sample = check_sample(y, y_proba, None, self._pos_label, self._labels)
            w = weights_of_chunk(sample_weight, y.shape[0])
            negative = self._agreed(negative_in(y, sample.y))
            rows = weighted_sample(sample.y, sample.p, w, sample.precision)
            mass, moved = cell_sums(rows.y, rows.p, rows.w, 2 * self.n_bins)
            self._mass += mass
            self._moved += moved
            see(self._only, rows.p)
            self._precision = promoted(self._precision, rows.precision)
            self.neg_label = negative
            self.weighted |= w is not None
            self._squares += float(y.shape[0] if w is None else np.square(w).sum())
        else:
            check_empty(y_proba, sample_weight)
        self.n_rows += y.shape[0]
        self.n_parts += 1
        self.parts |= names
        return self

    def merge(self, other):
        """Add the rows of another sketch.

        Parameters
        ----------
        other : CalibrationSketch
            With the same ``n_bins`` and labels. It stays as it is.

        Returns
        -------
        CalibrationSketch
            The sketch itself.

        Raises
        ------
        ValueError
            If the sketches do not go together, or share the name of a part.
        """
        if not isinstance(other, CalibrationSketch):
            fail("other", "be a CalibrationSketch", f"a {type(other).__name__}")
        if other.n_bins != self.n_bins:
            fail("other", f"have n_bins={self.n_bins}", f"n_bins={other.n_bins}")
        if other.pos_label != self.pos_label:
            fail("other", f"have the positive label {self.pos_label!r}", repr(other.pos_label))
        if None not in (self._labels, other._labels) and self._labels != other._labels:
            fail("other", f"have labels={self._labels}", f"labels={other._labels}")
        self._refuse_repeated(other.parts, "other", "hold parts")
        self.neg_label = self._agreed(other.neg_label)
        self._labels = other._labels if self._labels is None else self._labels
        self._mass += other._mass
        self._moved += other._moved
        self._only = joined(self._only, other._only)
        self._precision = promoted(self._precision, other._precision)
        self.weighted |= other.weighted
        self._squares += other._squares
        self.n_rows += other.n_rows
        self.n_parts += other.n_parts
        self.parts |= other.parts
        return self

    def copy(self):
        """A sketch of the same rows that can be updated apart.

        Returns
        -------
        CalibrationSketch
        """
        new = CalibrationSketch.__new__(CalibrationSketch)
        tables = {key: getattr(self, key).copy() for key in ("_mass", "_moved", "_only")}
        new.__dict__.update(self.__dict__, **tables)
        return new

    def __add__(self, other):
        return self.copy().merge(other) if isinstance(other, CalibrationSketch) else NotImplemented

    def __radd__(self, other):
        """For `sum`, which starts at 0."""
        return self.copy() if isinstance(other, int) and other == 0 else NotImplemented

    def __repr__(self):
        shown = f"n_rows={self.n_rows}, n_parts={self.n_parts}"
        if self.weight:
            shown += f", scdl={self.scdl().value:.4g}"
        return f"CalibrationSketch({shown})"

    @property
    def pos_label(self):
        """The positive class; 1 unless one was given."""
        return 1 if self._pos_label is None else self._pos_label

    @property
    def weight(self):
        """Summed weight of the rows; their number when they are not weighted."""
        return float(self._mass.sum())

    @property
    def effective_rows(self):
        """Number of equally weighted rows that would vary as much by chance."""
        return self.weight**2 / self._squares if self._squares else 0.0

    @property
    def base_rate(self):
        """Rate of positive outcomes."""
        return self._cells().base_rate

    @property
    def mean_forecast(self):
        """Mean prediction, exact."""
        return self._cells().mean_forecast

    def scdl(self):
        """Soft-binned calibration decision loss, exact unless it is below 1 / n_bins.

        Returns
        -------
        SoftSketchValue
            Equal ends, or those between which a smaller loss lies; ``n_bins`` is the self-balancing
            grid and ``regret_bound`` what it promises.
        """
        return _values.scdl(self._cells())

    def soft_cdl(self, n_bins):
        """SCDL on a given grid, exact.

        Parameters
        ----------
        n_bins : int
            m, a power of two from 2 to twice the ``n_bins`` of the sketch.

        Returns
        -------
        SketchValue

        Raises
        ------
        ValueError
            If the number of bins is none of these, or no row has been seen.
        """
        m = power_of_two(n_bins, 2 * self.n_bins, "soft_cdl")
        return _values.soft_loss(self._cells(), m)

    def cdl(self):
        """Calibration decision loss, with the predictions in a cell taken for equal.

        Whether predictions in a cell are equal or only near decides the loss of the rows: the ends
        hold for either, and lie far apart where rows are many and forecasts calibrated. They meet
        when no cell, of width 1 / (2 n_bins), has seen two different predictions.

        Returns
        -------
        SketchValue
        """
        return _values.cdl(self._cells())

    def ece(self, n_bins=15):
        """Expected calibration error in bins of equal width.

        Exact in a power of two of them, and when no cell has seen two different predictions.

        Parameters
        ----------
        n_bins : int, default=15
            At most twice the ``n_bins`` of the sketch. Rows that are not tied, in a cell with an
            edge of a bin inside, may lie on either side of it.

        Returns
        -------
        SketchValue

        Raises
        ------
        ValueError
            If the number of bins is none of these, or no row has been seen.
        """
        if not whole(n_bins) or not 1 <= n_bins <= 2 * self.n_bins:
            fail_parameter("ece", "n_bins", f"be from 1 to {2 * self.n_bins}", repr(n_bins))
        return _values.ece(self._cells(), int(n_bins))

    def bece(self, n_bins):
        """Actionable binned error (bECE), exact.

        Parameters
        ----------
        n_bins : int
            A power of two, at most twice the ``n_bins`` of the sketch.

        Returns
        -------
        SketchValue

        Raises
        ------
        ValueError
            If the number of bins is none of these, or no row has been seen.
        """
        m = power_of_two(n_bins, 2 * self.n_bins, "bece", least=1)
        return _values.bece(self._cells(), m)

    def smce(self):
        """Smooth calibration error, with its bounds.

        Returns
        -------
        SketchValue
        """
        return _values.smce(self._cells())

    def smece(self):
        """Kernel-smoothed ECE (smECE), with its bounds, which keep the error of its computation.

        Returns
        -------
        SketchValue
        """
        return _values.smece(self._cells())

    def cutoff(self):
        """Cutoff calibration error; the value is the lower end, attained by intervals of cells.

        Returns
        -------
        SketchValue
        """
        return _values.cutoff(self._cells())

    def distcal(self):
        """Lower distance to calibration, with its bounds, which keep the error of its computation.

        Takes up to some seconds.

        Returns
        -------
        SketchValue
        """
        return _values.distcal(self._cells())

    def sample(self):
        """A small weighted sample in place of the rows: what displays draw.

        The predictions of a cell are moved to their mean: at most 4 ``n_bins`` rows.

        Returns
        -------
        y_true, y_proba, sample_weight : ndarray of shape (k,)
            Outcomes 0 and 1, predictions, and weights.
        """
        sample = self._cells().sample
        return sample.y, sample.p, sample.w

    def to_dict(self):
        """The sketch as plain numbers, strings and lists, ready for JSON.

        Returns
        -------
        dict
            For `from_dict`.
        """
        return plain(self.__getstate__())

    @classmethod
    def from_dict(cls, stored):
        """A sketch from what `to_dict` returned.

        Parameters
        ----------
        stored : dict

        Returns
        -------
        CalibrationSketch

        Raises
        ------
        ValueError
            If it is of another version, or damaged.
        """
        new = cls.__new__(cls)
        new.__setstate__(stored)
        return new

    def save(self, file):
        """Write the sketch to a file in NumPy's npz format.

        Parameters
        ----------
        file : path or binary file object
            A file object is written from its position on, and stays open. It need not be seekable.

        Raises
        ------
        ValueError
            If it is no path, nor a binary file that is open for writing.
        """
        _stored.write(self.__getstate__(), file)

    @classmethod
    def load(cls, file):
        """A sketch from a file that `save` wrote.

        Parameters
        ----------
        file : path or binary file object
            A file object is read from its position to its end, and stays open. It must hold one
            sketch there, and nothing else.

        Returns
        -------
        CalibrationSketch

        Raises
        ------
        ValueError
            If it is of another version, damaged or not alone, or no file that can be read.
        """
        return cls.from_dict(_stored.load(file))

    def __getstate__(self):
        header = {
            "n_bins": self.n_bins,
            "pos_label": self._pos_label,
            "labels": self._labels,
            "negative": self.neg_label,
            "weighted": self.weighted,
            "squares": self._squares,
            "n_rows": self.n_rows,
            "n_parts": self.n_parts,
            "precision": self._precision and np.dtype(self._precision).name,
            "parts": sorted(self.parts),
        }
        return _stored.seal(header, self._mass, self._moved, self._only)

    def __setstate__(self, stored):
        header = _stored.unseal(stored)
        self.__init__(header["n_bins"], pos_label=header["pos_label"], labels=header["labels"])
        negative = header["negative"]
        if self.neg_label not in (None, negative) or negative == self.pos_label:
            _stored.refuse("its labels do not fit together")
        self.neg_label, self.weighted = negative, header["weighted"]
        self.n_rows, self.n_parts = header["n_rows"], header["n_parts"]
        self._squares = header["squares"]
        self._precision = header["precision"] and np.dtype(header["precision"]).type
        self.parts = frozenset(header["parts"])
        _stored.fill(self._mass, self._moved, self._only, stored)

    def _agreed(self, negative):
        """The other label, when a chunk or sketch in which it is ``negative`` joins."""
        if None not in (negative, self.neg_label) and negative != self.neg_label:
            known = shown([self.neg_label, self.pos_label])
            fail("labels", f"be the same in all parts, {known} here", f"also {negative!r}")
        return self.neg_label if negative is None else negative

    def _refuse_repeated(self, names, argument="part", must="be a name"):
        if repeated := self.parts & names:
            fail(argument, f"{must} that the sketch does not hold yet", shown(sorted(repeated)))

    def _cells(self):
        cells = Cells(self._mass, self._moved, self._only, self._precision)
        if not cells.total:
            fail("the sketch", "hold a row of positive weight", f"{self.n_rows} rows")
        return cells
