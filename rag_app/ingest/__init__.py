"""Documents into an index: split, embed, put in, and look whether it answers."""

from rag_app.ingest.checks import check_rankings, measure_recall
from rag_app.ingest.reembed import reembed
from rag_app.ingest.report import IngestReport, report_json
from rag_app.ingest.run import ingest, remove

__all__ = ["IngestReport", "check_rankings", "ingest", "measure_recall", "reembed", "remove", "report_json"]
