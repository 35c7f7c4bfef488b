"""A server that says what it is told to: one JSON line in, lines out.

For tests of the proxy alone.
"""

import json
import os
import signal
import subprocess
import sys
import time

if (
    "--stubborn" in sys.argv
):  # ends neither with its input nor when told to, and has a child that does not either
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    print(
        json.dumps({"jsonrpc": "2.0", "method": "pids", "params": [os.getpid(), child.pid]}),
        flush=True,
    )
for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    print(json.dumps({"jsonrpc": "2.0", "method": "notifications/got", "params": line}), flush=True)
    arguments = (
        message.get("params", {}).get("arguments", {})
        if message.get("method") == "tools/call"
        else {}
    )
    if "exit" in arguments:
        sys.exit(3)
    if "raw" in arguments:
        sys.stdout.write(arguments["raw"] + "\n")
        sys.stdout.flush()
    elif "big" in arguments:
        sys.stdout.write("x" * arguments["big"] + "\n")
        sys.stdout.flush()
    elif "silent" not in arguments and "id" in message:
        content = [{"type": "text", "text": arguments.get("says", "done")}]
        answer = {
            "jsonrpc": "2.0",
            "id": message["id"],
            "result": {"content": content, "isError": "fail" in arguments},
        }
        print(json.dumps(answer), flush=True)
if "--stubborn" in sys.argv:
    time.sleep(600)
