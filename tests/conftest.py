"""Settings of all tests: how long hypothesis may think.

The gate tries the same examples each time, so that it never fails by chance; ``make laws`` tries many
more, and others each time.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "house",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile(
    "deep", parent=settings.get_profile("house"), max_examples=2000, derandomize=False
)
settings.load_profile(os.environ.get("SIGWHY_LAWS", "house"))
