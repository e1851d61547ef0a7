"""Grades answers that nobody trusts: each runs in isolation, and its mark is formed outside of it."""
