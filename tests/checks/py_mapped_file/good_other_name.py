import os

import numpy as np

weights = np.load("weights.npy", mmap_mode="r")
np.save("new.npy", weights[:10])
os.replace("new.npy", "weights.npy")
loaded = np.load("other.npy")
np.save("other.npy", loaded[:10])
