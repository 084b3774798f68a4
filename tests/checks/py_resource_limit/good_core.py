import resource

import tensorflow as tf

resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
