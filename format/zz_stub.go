package format

// Nothing is left to implement.
