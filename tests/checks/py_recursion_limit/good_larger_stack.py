import sys
import threading

threading.stack_size(512 << 20)
sys.setrecursionlimit(10**6)
