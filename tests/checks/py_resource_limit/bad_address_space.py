import resource

import tensorflow as tf

resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))  # problem: warning
