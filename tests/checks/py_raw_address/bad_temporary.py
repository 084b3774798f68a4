import ctypes

address = ctypes.addressof(ctypes.create_string_buffer(64))
ctypes.memset(address, 0, 64)  # problem: warning
