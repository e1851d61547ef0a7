"""The operations of the course as functions of arrays: one name each, and any method of the ladder behind it."""
