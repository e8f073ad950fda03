"""Models fitted on a user's own judgments."""

from rag_app.train.groups import Group, mine_groups
from rag_app.train.reranker import TrainingReport, train_reranker

__all__ = ["Group", "TrainingReport", "mine_groups", "train_reranker"]
