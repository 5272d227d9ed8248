"""Runs the example of a backend in Python, as its page says, while it and the server are killed.

    python tests/python/backend_example.py target/debug/zetema

generates the client, starts that server, and lets the example have 200 matches played by house bots (the example in Rust has its 1,000
in the end-to-end tests). The example is killed while it asks for the matches and while it reads results, and so is the
server. In the end every result is there, once.
"""

import os
import pathlib
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time

MATCHES = 200
DEADLINE_SECONDS = 120
ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "backend-python"


class Server:
    """A server that can be killed, and started again on the same data and address."""

    def __init__(self, program, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % free.getsockname()[1]
        self.command = [program, "serve", "--log", "error", "--listen", self.address, "--data", folder, "--max-late-ms", "60000"]
        self.folder = folder
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        # It says so when it serves.
        assert "serves at" in self.process.stderr.readline()

    def restart(self):
        self.kill()
        self.start()

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=DEADLINE_SECONDS)
        self.process.stderr.close()

    def token(self):
        return pathlib.Path(self.folder, "admin-token").read_text(encoding="ascii").strip()


class Backend:
    """The example, which can be killed, and started again in its folder."""

    def __init__(self, folder, server):
        self.folder = folder
        self.environment = {**os.environ, "ZETEMA_SERVER": f"http://{server.address}", "ZETEMA_TOKEN": server.token()}
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [sys.executable, "backend.py", str(MATCHES)],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            text=True,
        )

    def says(self, text, times=1):
        while times:
            line = self.process.stdout.readline()
            assert line, f"the backend ended before it said {text!r} often enough"
            times -= text in line

    def restart(self):
        self.process.kill()
        self.process.wait(timeout=DEADLINE_SECONDS)
        self.process.stdout.close()
        self.start()

    def end(self):
        self.process.stdout.read()
        assert self.process.wait(timeout=DEADLINE_SECONDS) == 0, "the backend failed"


def generate(folder):
    """What the page says to do before the first start."""
    shutil.copytree(EXAMPLE, folder)
    protos = sorted(str(path) for path in (ROOT / "proto" / "zetema" / "v1").glob("*.proto"))
    command = [sys.executable, "-m", "grpc_tools.protoc", "-I", str(ROOT / "proto")]
    subprocess.run([*command, "--python_out=.", "--grpc_python_out=.", *protos], cwd=folder, check=True)


def main():
    program = os.path.abspath(sys.argv[1])
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        folder = os.path.join(scratch, "backend")
        generate(folder)
        server = Server(program, os.path.join(scratch, "data"))
        try:
            backend = Backend(folder, server)
            backend.says("creating")
            backend.restart()
            backend.says("handed out")
            bots = subprocess.Popen(
                [program, "bot", "random", "--token-file", "seat-tokens.txt", "--server", f"http://{server.address}"],
                cwd=folder,
                stdout=subprocess.DEVNULL,
            )
            try:
                backend.says("result ", MATCHES // 5)
                server.restart()
                backend.says("result ", MATCHES // 5)
                backend.restart()
                backend.says("result ", MATCHES // 5)
                backend.restart()
                server.restart()
                backend.end()
                assert bots.wait(timeout=DEADLINE_SECONDS) == 0, "a bot failed"
            finally:
                bots.kill()
                bots.wait()
            results = sqlite3.connect(os.path.join(folder, "backend.sqlite"))
            numbers = [row[0] for row in results.execute("SELECT result_number FROM results ORDER BY result_number")]
            assert numbers == list(range(1, MATCHES + 1)), f"results are missing, or there are others: {numbers}"
        finally:
            server.kill()
    print(f"{MATCHES} results, each once, in {time.monotonic() - begun:.1f} s")
    print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
