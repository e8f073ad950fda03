"""Measures, significance tests and data sets: what is known about retrieval, chunks, verification and answers."""
