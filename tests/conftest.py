"""Settings of all tests: how long hypothesis may think, and signals as a terminal gives them.

The gate tries the same examples each time, so that it never fails by chance; ``make laws`` tries many
more, and others each time.
"""

import contextlib
import os
import signal

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

# A shell without job control starts what it puts into the background with these ignored, and every
# child inherits that. Programs that are to die of them must not.
for name in ("SIGINT", "SIGQUIT"):
    number = getattr(signal, name, None)
    if number and signal.getsignal(number) is signal.SIG_IGN:
        with contextlib.suppress(ValueError):  # not in the main thread
            signal.signal(
                number, signal.default_int_handler if name == "SIGINT" else signal.SIG_DFL
            )
