"""The right answers: convolutions on the CPU that every kernel is held against."""
