"""A command of the user's that is told of a death. Its failure changes nothing."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

SECONDS = 60.0


def tell(
    command: str, *, incident: Path | None, signature: str, seconds: float = SECONDS
) -> str | None:
    """Run it by the shell; what went wrong with it, if anything did.

    It finds the file of the Incident in ``SIGWHY_INCIDENT`` and the short name of the death in
    ``SIGWHY_SIGNATURE``. What it prints goes to standard error: standard output is the program's.
    """
    named = {
        "SIGWHY_INCIDENT": str(incident.absolute()) if incident else "",
        "SIGWHY_SIGNATURE": signature,
    }
    try:
        hook = subprocess.Popen(
            ["/bin/sh", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=2,
            env={**os.environ, **named},
            start_new_session=True,
        )
    except OSError as error:
        return f"the command of --on-death could not be started ({error.strerror})"
    try:
        status = hook.wait(seconds)
    except subprocess.TimeoutExpired:
        return f"the command of --on-death took longer than {seconds:g} s and was ended"
    finally:
        if hook.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(hook.pid, signal.SIGKILL)
            hook.wait()
    return f"the command of --on-death ended with status {status}" if status else None
