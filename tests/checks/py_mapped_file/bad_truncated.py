# dies: SIGBUS
import os

import numpy as np

np.save("weights.npy", np.zeros(1_000_000))
weights = np.load("weights.npy", mmap_mode="r")
os.truncate("weights.npy", 4096)  # problem: warning
print(weights.sum())
