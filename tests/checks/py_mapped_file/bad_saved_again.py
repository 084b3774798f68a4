import numpy as np

PATH = "weights.npy"
weights = np.load(PATH, mmap_mode="r")
np.save(PATH, weights[:10])  # problem: warning
print(weights.sum())
