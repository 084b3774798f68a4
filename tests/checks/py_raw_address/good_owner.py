import ctypes

owner = ctypes.create_string_buffer(64)
ctypes.memset(ctypes.addressof(owner), 0, 64)
