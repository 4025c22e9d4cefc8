"""Pages: HTML files that need no network, and the trace of one handshake for other viewers.

Each is made from the explanation of a handshake (`slowhand.Scenario.explain`), or from a run.

>>> import slowhand
>>> explanation = slowhand.Scenario("quickstart").explain(seed=17)
>>> slowhand.pages.timeline(explanation, "one.html")
>>> slowhand.pages.chrome_trace(explanation, "one.json")
"""

from slowhand.pages.lanes import timeline
from slowhand.pages.perfetto import chrome_trace

__all__ = ["chrome_trace", "timeline"]
