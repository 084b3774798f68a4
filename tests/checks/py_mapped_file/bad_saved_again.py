# dies: SIGBUS
import numpy as np

PATH = "weights.npy"
np.save(PATH, np.zeros(1_000_000))
weights = np.load(PATH, mmap_mode="r")
np.save(PATH, weights[:10])  # problem: warning
print(weights.sum())
