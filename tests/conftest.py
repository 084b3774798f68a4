"""Settings of all tests: how long hypothesis may think."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "house", max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("deep", parent=settings.get_profile("house"), max_examples=2000)
settings.load_profile(os.environ.get("SIGWHY_LAWS", "house"))
