"""Finding faults: where a NaN was born, why a gradient is missing, what a graph holds."""
