"""Linux: runs a command under watch, and looks when it dies.

``session`` is the map: ``launch`` starts the command, ``supervise`` is the loop, ``recorder`` looks
when somebody dies, ``capture`` keeps what must be kept while a process stands, ``small_core`` writes
its memory, ``stderr`` its last words.
"""
