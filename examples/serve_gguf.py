"""Serve a GGUF file on a CPU, without a compiler: `pip install xllamacpp`, then `python
serve_gguf.py FILE`.

RPMS reaches it as `--model llamacpp/NAME`, whatever the name.
"""

import sys
import threading

from xllamacpp import CommonParams, Server

parameters = CommonParams()
parameters.model.path = sys.argv[1]
parameters.n_ctx = 16384  # tokens of context, which the episodes played at once share
parameters.n_parallel = 2
parameters.port = 8080
server = Server(parameters)
print(f"serving {sys.argv[1]} at {server.listening_address}; Ctrl-C stops it", flush=True)
threading.Event().wait()
