"""Tally: counts the words and the reading time of texts, for customers with a license."""
