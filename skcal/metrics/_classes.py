"""Measures of more than two classes, from measures of two."""

from dataclasses import dataclass

import numpy as np

from skcal._results import Certificate


@dataclass(frozen=True, eq=False, repr=False)
class ClasswiseCertificate(Certificate):
    """The mean of a measure over classes, each against the rest.

    Attributes
    ----------
    value : float
    classes : tuple
        Their labels, or 0 and 1 when the forecasts had one dimension.
    certificates : tuple of Certificate
        One for each class.
    """

    classes: tuple
    certificates: tuple[Certificate, ...]

    def verify(self):
        """Verify the certificate of each class, and take their mean."""
        mean = np.mean([certificate.value for certificate in self.certificates])
        proved = all(certificate.verify() for certificate in self.certificates)
        return bool(proved and abs(mean - self.value) <= 1e-12)


def over_classes(samples, certify, return_certificate, evaluate=None):
    """What a measure returns: a certificate, or the value alone (by ``evaluate`` if that is less).

    Of one sample, or of one for each class, whose values are averaged.
    """
    if not return_certificate:
        evaluate = evaluate or (lambda sample: certify(sample).value)
        return float(np.mean([evaluate(sample) for sample in samples.samples]))
    certificates = tuple(map(certify, samples.samples))
    if samples.classes is None:
        return certificates[0]
    mean = float(np.mean([certificate.value for certificate in certificates]))
    return ClasswiseCertificate(mean, samples.classes, certificates)
