"""One connection to the agent: each line of standard input goes there, each answer comes back on standard output."""

import os
import socket
import sys

agent = socket.socket(socket.AF_UNIX)
agent.connect(os.environ["XDG_RUNTIME_DIR"] + "/oauthctl/agent.sock")
answers = agent.makefile()
for line in sys.stdin:
    agent.sendall(line.encode())
    print(answers.readline(), end="", flush=True)
