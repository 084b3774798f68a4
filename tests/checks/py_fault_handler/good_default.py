import faulthandler
import signal

faulthandler.enable()
signal.signal(signal.SIGSEGV, signal.SIG_DFL)
signal.signal(signal.SIGTERM, lambda number, frame: None)
