"""rag_app: LangChain-native retrieval-augmented generation whose answers can be checked."""

__version__ = "0.1.0"
