"""What the settings know under `verify`."""

from rag_app.verify.verifier import Verifier

Verification = Verifier
