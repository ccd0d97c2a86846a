"""Programs over calibrated partitions: the calibration distance, exactly and in bounds."""
