"""Verification: claim by claim, what the evidence says. Levels: lexical (no model), entailment, llm."""

from rag_app.verify.verifier import Verifier

Verification = Verifier

__all__ = ["Verification", "Verifier"]
