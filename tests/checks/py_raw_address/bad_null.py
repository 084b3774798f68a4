# dies: SIGSEGV
import ctypes

print(ctypes.string_at(0))  # problem: error
