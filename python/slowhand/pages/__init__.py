"""Pages: HTML files that need no network, and the trace of one handshake for other viewers.

Each is made from the explanation of a handshake (`slowhand.Scenario.explain`), or from a run.

>>> import slowhand
>>> scenario = slowhand.Scenario("quickstart")
>>> explanation = scenario.explain(seed=17)
>>> slowhand.pages.timeline(explanation, "one.html")
>>> slowhand.pages.chrome_trace(explanation, "one.json")
>>> slowhand.pages.report(slowhand.Run(scenario, count=20), "all.html")
>>> slowhand.pages.playback(scenario.play(seed=17), "played.html")
"""

from slowhand.pages.lanes import timeline
from slowhand.pages.moving import playback
from slowhand.pages.overview import report
from slowhand.pages.perfetto import chrome_trace

__all__ = ["chrome_trace", "playback", "report", "timeline"]
