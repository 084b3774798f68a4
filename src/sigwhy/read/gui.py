"""What window toolkits say when there is no display, no plugin, or the wrong thread.

Looks like::

    qt.qpa.plugin: Could not load the Qt platform plugin "xcb" in "" even though it was found.
    This application failed to start because no Qt platform plugin could be initialized.
    Tcl_AsyncDelete: async handler deleted by the wrong thread
    cannot connect to X server :0
    _tkinter.TclError: no display name and no $DISPLAY environment variable
    NSWindow drag regions should only be invalidated on the Main Thread!
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sigwhy.model.fact import Notice, Span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sigwhy.model.case import Evidence
    from sigwhy.model.fact import Fact

CHECK = "check-failed"
THROWN = "uncaught-exception"

# (words that must stand in the line, pattern with the subject if any, topic, mechanism)
SENTENCES = tuple(
    (hint, re.compile(pattern), topic, mechanism)
    for hint, pattern, topic, mechanism in (
        ('latform plugin "', r"[Cc]ould not (?:load|find) the Qt platform plugin \"(?P<subject>[\w-]{0,40})\"", "gui-plugin", CHECK),
        ("no Qt platform plugin", r"no Qt platform plugin could be initialized", "gui-plugin", CHECK),
        ("Qt platform plugin", r"could not find or load the Qt platform plugin(?: \"(?P<subject>[\w-]{0,40})\")?", "gui-plugin", CHECK),
        ("Available platform plugins are", r"Available platform plugins are: (?P<subject>[\w, -]{1,300})", "gui-plugin-list", None),
        ("windows platform plugin", r"no (?:windows|wayland|cocoa) platform plugin could be initialized", "gui-plugin", CHECK),
        ("qt.qpa", r"qt\.qpa\.(?:xcb|screen|wayland)[\w.]{0,20}: (?:QXcbConnection: )?[Cc]ould not connect to display ?(?P<subject>\S{0,60})", "gui-no-display", CHECK),
        ("QXcbConnection", r"QXcbConnection: Could not connect to display ?(?P<subject>\S{0,60})", "gui-no-display", CHECK),
        ("onnect to X server", r"[Cc](?:annot|ould not|an't) connect to X server ?(?P<subject>[\w.:]{0,60})", "gui-no-display", CHECK),
        ("no $DISPLAY", r"no display name and no \$(?P<subject>DISPLAY)", "gui-no-display", None),
        ("connect to display", r"couldn't connect to display \"?(?P<subject>[\w.:/-]{0,60})", "gui-no-display", None),
        ("open display", r"(?:[Cc]annot|[Cc]ould ?n[o']t|[Cc]an't|[Uu]nable to|[Ff]ailed to) open (?:X )?display:? ?(?P<subject>[\w.:/-]{0,60})", "gui-no-display", None),
        ("bad X server connection", r"bad X server connection\. DISPLAY=(?P<subject>[\w.:]{0,60})", "gui-no-display", CHECK),
        ("NoSuchDisplayException", r"NoSuchDisplayException", "gui-no-display", None),
        ("X Server", r"Unable to access the X Display, is \$(?P<subject>DISPLAY) set properly", "gui-no-display", None),
        ("X Display", r"Unable to access the X Display, is \$(?P<subject>DISPLAY) set properly", "gui-no-display", None),
        ("No available video device", r"No available video device", "gui-no-display", None),
        ("X11: ", r"X11: (?:The DISPLAY environment variable is missing|Failed to open display ?(?P<subject>\S{0,60}))", "gui-no-display", None),
        ("Gtk couldn't be initialized", r"(?P<subject>Gtk) couldn't be initialized", "gui-no-display", None),
        ("as 'headless'", r"cannot load backend '(?P<subject>\w{1,40})' which requires the '?\w{1,40}'? interactive framework, as 'headless'", "gui-no-display", None),
        ("annot load backend", r"Cannot load backend '(?P<subject>\w{1,40})'", "gui-no-display", None),
        ("Tcl_AsyncDelete", r"(?P<subject>Tcl)_AsyncDelete: (?:cannot find async handler|async handler deleted by the wrong thread)", "gui-wrong-thread", CHECK),
        ("Tcl_WaitForEvent", r"(?P<subject>Tcl)_WaitForEvent: Notifier not initialized", "gui-wrong-thread", CHECK),
        ("Calling Tcl from different", r"Calling (?P<subject>Tcl) from different apart(?:e?ment|ment)", "gui-wrong-thread", None),
        ("main thread is not in main loop", r"main thread is not in main loop", "gui-thread-warned", None),
        ("Matplotlib GUI outside", r"Starting a (?P<subject>Matplotlib) GUI outside of the main thread", "gui-thread-warned", None),
        ("QApplication", r"(?P<subject>QApplication) was not created in the main\(?\)? thread", "gui-wrong-thread", None),
        ("QWidget: Must construct", r"(?P<subject>QWidget): Must construct a Q\w{0,3}Application before a QWidget", "gui-no-application", CHECK),
        ("QPixmap: Must construct", r"(?P<subject>QPixmap): Must construct a Q\w{0,3}Application", "gui-no-application", CHECK),
        ("QPixmap: It is not safe", r"(?P<subject>QPixmap): It is not safe to use pixmaps outside the GUI thread", "gui-thread-warned", None),
        ("QObject::", r"(?P<subject>QObject)::\w{1,30}: (?:Cannot [\w ]{1,60}(?:different|another) thread|Timers cannot be (?:started|stopped|killed) from another thread)", "gui-thread-warned", None),
        ("QBasicTimer", r"(?P<subject>QBasicTimer)::\w{1,12}: (?:Timers cannot be started from another thread|QBasicTimer can only be used with threads)", "gui-thread-warned", None),
        ("QThread: Destroyed", r"(?P<subject>QThread): Destroyed while thread (?:'[^']{0,60}' )?is still running", "qthread-destroyed", CHECK),
        ("ain Thread", r"NSWindow[\w ]{0,60}should only be (?:instantiated|invalidated|modified) on the [Mm]ain [Tt]hread", "gui-wrong-thread", THROWN),
        ("ain thread", r"(?P<subject>NSWindow)[\w ]{0,60}should only be (?:instantiated|invalidated|modified) on the [Mm]ain [Tt]hread", "gui-wrong-thread", THROWN),
        ("", r"(?:Modifications to the layout engine|-\[\w{1,40} [\w:]{1,60}\] was called off the main thread|UI API called)[^\n]{0,100}", "gui-wrong-thread", None),
        ("nextEventMatchingMask should only", r"nextEventMatchingMask should only be called from the [Mm]ain [Tt]hread", "gui-wrong-thread", THROWN),
        ("from a background thread", r"This application is modifying the autolayout engine from a background thread", "gui-wrong-thread", None),
        ("not being on the main", r"-\[(?P<subject>NS\w{1,40}) [\w:]{1,60}\][^\n]{0,80}main thread", "gui-wrong-thread", None),
        ("TSM", r"TSM\w{1,40}[^\n]{0,60}(?:main thread|dispatch_assert_queue)", "gui-wrong-thread", None),
        ("AppKit", r"(?P<subject>AppKit)[^\n]{0,40}(?:main thread)", "gui-wrong-thread", None),
        ("XInitThreads", r"\[xcb\] Most likely this is a multi-threaded client and (?P<subject>XInitThreads) has not been called", "gui-wrong-thread", CHECK),
        ("xcb_xlib_threads_sequence_lost", r"(?P<subject>xcb)_xlib_threads_sequence_lost", "gui-wrong-thread", CHECK),
        ("xcb_xlib_unknown_", r"(?P<subject>xcb)_xlib_unknown_(?:req_in_deq|seq_number)", "gui-wrong-thread", CHECK),
        ("received an X Window System error", r"The program '?(?P<subject>[^'\n]{1,60}?)'? received an X Window System error", "gui-x-error", CHECK),
        ("X Error", r"X Error (?:of failed request)?:? {0,4}(?P<subject>Bad\w{3,20})", "gui-x-error", None),
        ("Bad", r"reflects? a bug in the program[^\n]{0,40}error was '(?P<subject>Bad\w{3,20})", "gui-x-error", None),
        ("The error was 'Bad", r"The error was '(?P<subject>Bad\w{3,20})", "gui-x-error", None),
        ("XIO:", r"XIO: +fatal IO error \d{1,3}", "gui-x-error", CHECK),
        ("libGL error", r"libGL error: (?P<subject>[^\n]{1,120})", "gl-driver", None),
        ("MESA-LOADER", r"MESA-LOADER: failed to open (?P<subject>\w{1,40})", "gl-driver", None),
        ("ould not initialize", r"[Cc]ould not initialize (?P<subject>GLX|EGL|OpenGL)", "gl-context", CHECK),
        ("OpenGL context", r"(?:[Ff]ailed to|[Cc]ould ?n[o']t|[Uu]nable to) create (?:an? |the )?(?P<subject>OpenGL) context", "gl-context", None),
        ("GLFW", r"(?P<subject>GLFW)(?:Error)?[^\n]{0,40}(?:[Ff]ailed to (?:initialize|detect any supported platform)|not initialized|is not initialized)", "gl-context", None),
        ("glfwInit", r"(?P<subject>glfwInit)\(?\)?[^\n]{0,20} failed", "gl-context", None),
        ("wx", r"(?P<subject>wx)[^\n]{0,200}(?:Is DISPLAY set properly|non-main thread|wxIsMainThread)", "gui-wrong-thread", None),
        ("wxIsMainThread", r"(?P<subject>wx)IsMainThread\(\)", "gui-wrong-thread", CHECK),
        ("wx.App", r"The (?P<subject>wx\.App) object must be created first", "gui-no-application", None),
        ("OpenCV(", r"error: \(-2:Unspecified error\) The function is not implemented\. Rebuild the library with (?P<subject>Windows, GTK)", "gui-not-built", None),
        ("Rebuild the library with Windows", r"Rebuild the library with (?P<subject>Windows, GTK)", "gui-not-built", None),
        ("Can't initialize GTK backend", r"Can't initialize (?P<subject>GTK) backend", "gui-no-display", None),
        ("GTK+ 2.x symbols", r"(?P<subject>GTK)\+ 2\.x symbols detected\. Using GTK\+ 2\.x and GTK\+ 3", "gui-twice", CHECK),
        ("Incompatible Qt", r"Cannot mix incompatible (?P<subject>Qt) library", "gui-twice", CHECK),
        ("Cannot mix incompatible Qt", r"Cannot mix incompatible (?P<subject>Qt) library", "gui-twice", CHECK),
        ("Two sets of Qt", r"two sets of (?P<subject>Qt) binaries into the same process", "gui-twice", None),
        ("sets of Qt binaries", r"two sets of (?P<subject>Qt) binaries into the same process", "gui-twice", None),
    )
)  # fmt: skip
# Hints that stand in ordinary text too.
ORDINARY = {
    "Bad",
    "AppKit",
    "GLFW",
    "QApplication",
    "QObject::",
    "OpenCV(",
    "ain Thread",
    "ain thread",
}
MARKERS = (
    "platform plugin", "open X display", "load backend", "nteractive framework", "ain Thread", "ain thread", "layout engine", "UI API called", "reflect a bug", "reflects a bug", "not initialize", "DISPLAY set", "dispatch_assert_queue",
    *sorted({row[0] for row in SENTENCES} - ORDINARY),
    "QApplication was not", "QObject::", "the Main Thread", "the main thread", "GLFW",
)  # fmt: skip


def read(evidence: Evidence) -> Iterator[Fact]:
    """Yield what window toolkits complained of."""
    for n, line in enumerate(evidence.lines):
        for hint, pattern, topic, mechanism in SENTENCES:
            if hint not in line or not (found := pattern.search(line)):
                continue
            yield Notice(
                span=Span(evidence=evidence.name, first=n, last=n, words=found[0]),
                topic=topic,
                text=found[0],
                subject=found.groupdict().get("subject") or None,
                mechanism=mechanism,
            )
            break
