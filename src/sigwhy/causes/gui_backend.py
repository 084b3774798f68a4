"""A window toolkit has no display, no plugin, or is used from the wrong thread.

What happens: plotting and image libraries start Qt, Tk, GTK or Cocoa when a figure or a window is
made. Without a display, with two sets of Qt (opencv-python brings its own), or from a thread that is
not the main one, the toolkit ends the whole process.

How to tell: "Could not load the Qt platform plugin", "could not connect to display", "Tcl_AsyncDelete:
async handler deleted by the wrong thread", "NSWindow … on the main thread".

Fix: draw without windows: MPLBACKEND=Agg (or matplotlib.use("Agg") before pyplot is imported),
QT_QPA_PLATFORM=offscreen, opencv-python-headless; create and delete windows in the main thread only.

Folklore: the sentence "Reinstalling the application may fix this problem" is Qt's, and reinstalling
does not help while two Qt libraries are installed.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.cause import Cause, Clue, Culprit, Weight
from sigwhy.model.fact import Notice, PythonError, Stack, Uncaught

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Case

CAUSE = Cause(
    id="gui-backend",
    title="a window toolkit has no display, no plugin, or is in the wrong thread",
    fix="Draw without windows (MPLBACKEND=Agg, QT_QPA_PLATFORM=offscreen), or use the main thread only.",
    usually={"SIGABRT": "check-failed"},
)
PLUGIN_FIX = (
    "Keep one Qt: pip uninstall opencv-python, then pip install opencv-python-headless; see what is "
    "missing with QT_DEBUG_PLUGINS=1 (often libxcb-cursor0 or libxcb-xinerama0); without a display "
    "set QT_QPA_PLATFORM=offscreen."
)
DISPLAY_FIX = "Set DISPLAY or run under xvfb-run; draw without windows: MPLBACKEND=Agg, QT_QPA_PLATFORM=offscreen."
THREAD_FIX = (
    "Create, use and delete windows in the main thread only; for figures: matplotlib.use('Agg')."
)
# topic: weight, what it says, fix
TOPICS = {
    "gui-plugin": (Weight.PROOF, "Qt could not start its platform plugin", PLUGIN_FIX),
    "gui-plugin-list": (Weight.PROOF, "Qt lists its platform plugins, which it does when none starts", PLUGIN_FIX),
    "gui-no-display": (Weight.PROOF, "the toolkit has no display to connect to", DISPLAY_FIX),
    "gui-wrong-thread": (Weight.PROOF, "the toolkit was used from the wrong thread", THREAD_FIX),
    "gui-thread-warned": (Weight.FAIR, "the toolkit complains of another thread", THREAD_FIX),
    "gui-no-application": (Weight.PROOF, "a widget was made before the application object", "Create the application object first, and only one."),
    "gui-twice": (Weight.PROOF, "two sets of the toolkit are in one process", PLUGIN_FIX),
    "gui-x-error": (Weight.PROOF, "the X server refused a request", THREAD_FIX),
    "gui-not-built": (Weight.PROOF, "OpenCV was built without windows", "Install opencv-python instead of opencv-python-headless, or do not show windows."),
    "gl-context": (Weight.PROOF, "no OpenGL context could be made", "Use a display with OpenGL, or the software renderer: LIBGL_ALWAYS_SOFTWARE=1, MUJOCO_GL=egl, xvfb-run."),
    "gl-driver": (Weight.FAIR, "the OpenGL driver could not be loaded", "Let the system's libstdc++ be found before conda's, or use the software renderer."),
}  # fmt: skip
TOOLKITS = (
    (re.compile(r"[Qq]t|^Q[A-Z]|platform plugin|no Qt|xcb\b"), "Qt"),
    (re.compile(r"Tcl|Tk|main loop|\$DISPLAY"), "Tk"),
    (re.compile(r"[Gg]tk|GTK|Gdk"), "GTK"),
    (re.compile(r"NS[A-Z]|AppKit|nextEvent|autolayout|main thread|UI API|TSM"), "AppKit"),
    (re.compile(r"wx"), "wxWidgets"),
    (re.compile(r"GLX|EGL|OpenGL|libGL|MESA|GLFW|glfw"), "OpenGL"),
)
ENDS_IN = re.compile(
    r"^(?:Tcl_Panic\w*|Tcl_AsyncDelete|Tk_\w+|PanicVA|QMessageLogger::fatal|_ZNK14QMessageLogger5fatal\w*|QXcb\w*::.*"
    r"|init_platform|QGuiApplicationPrivate::\w+|gtk_\w+|gdk_\w+|-\[NS(?:Window|Application|View|Menu)\w* .*|_X(?:Reply|IOError|Error)"
    r"|xcb_\w+|poll_for_event|XPending|QApplication::.*|QWidget::.*|QPixmap::.*)"
)
INNER = 10


def clues(case: Case) -> Iterator[Clue]:
    """Yield what the case says for a window toolkit."""
    for notice in case.all(Notice):
        if row := TOPICS.get(notice.topic):
            weight, says, fix = row
            yield Clue(weight, notice, says, _toolkit(notice), fix)
    yield from _exceptions(case)
    for stack in case.all(Stack):
        if stack.crashed and stack.role == "fault":
            yield from _frames(stack)


def _exceptions(case: Case) -> Iterator[Clue]:
    for error in case.all(PythonError):
        if error.type.endswith("TclError") and "display" in error.text:
            says = TOPICS["gui-no-display"][1]
            yield Clue(Weight.PROOF, error, says, Culprit(kind="library", name="Tk"), DISPLAY_FIX)
    for uncaught in case.all(Uncaught):
        if "NSInternalInconsistency" in (uncaught.type or "") and "hread" in (uncaught.what or ""):
            says = TOPICS["gui-wrong-thread"][1]
            whom = Culprit(kind="library", name="AppKit")
            yield Clue(Weight.PROOF, uncaught, says, whom, THREAD_FIX)


def _frames(stack: Stack) -> Iterator[Clue]:
    for frame in stack.frames[:INNER]:
        if frame.function and ENDS_IN.match(frame.function):
            whom = Culprit(
                kind="library",
                name=_named(frame.function) or frame.library,
                library=frame.library,
                function=frame.function,
            )
            yield Clue(Weight.STRONG, stack, "it died inside the window toolkit", whom)
            return


def _toolkit(notice: Notice) -> Culprit | None:
    name = _named(notice.text)
    return Culprit(kind="library", name=name, value=notice.subject) if name else None


def _named(text: str) -> str | None:
    return next((name for pattern, name in TOOLKITS if pattern.search(text)), None)
