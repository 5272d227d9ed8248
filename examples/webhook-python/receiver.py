"""A receiver of webhooks: it verifies every message, and writes every result down once.

    python receiver.py PORT

listens on this port of 127.0.0.1. ZETEMA_WEBHOOK_SECRET is the secret that `zetema webhook add` has printed. It needs the
standard library alone.
"""

import base64
import hashlib
import hmac
import http.server
import json
import os
import sqlite3
import sys
import time

SECRET = base64.b64decode(os.environ["ZETEMA_WEBHOOK_SECRET"].strip().removeprefix("whsec_"))
# A message that someone has kept, and sends later, is not taken.
TOLERANCE_SECONDS = 300
MAX_BODY_BYTES = 64 * 1024

TABLE = """
    CREATE TABLE IF NOT EXISTS results (
        message_id TEXT PRIMARY KEY, result_number INTEGER NOT NULL, match_id TEXT NOT NULL, outcome TEXT NOT NULL
    );
"""


def is_genuine(headers, body):
    """Whether the server has sent this message, and just now (standardwebhooks.com)."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    signed = f"{message_id}.{timestamp}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, one) for one in headers.get("webhook-signature", "").split(" "))


class Receiver(http.server.BaseHTTPRequestHandler):
    # The server's connection is used again.
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_POST(self):
        length = self.headers.get("content-length", "")
        if not length.isdecimal() or int(length) > MAX_BODY_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers, body):
            return self.answer(401)
        data = json.loads(body)["data"]
        match = data["match"]
        row = (self.headers["webhook-id"], data["result_number"], match["match_id"], outcome(match["outcome"]))
        # The same message may come again: it has the same id. It is taken when it is stored, not before.
        with sqlite3.connect("results.sqlite") as db:
            stored = db.execute("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?)", row).rowcount
        if stored:
            print(f"result {row[1]}: match {row[2]} {row[3]}", flush=True)
        self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Results are printed, and nothing else."""


def outcome(ended):
    """How a match ended, in a few words."""
    if "result" in ended:
        return " : ".join(str(side["total"]) for side in ended["result"]["sides"])
    return ended["aborted"]["reason"]


def main():
    if len(sys.argv) != 2:
        sys.exit("say where to listen: python receiver.py PORT")
    with sqlite3.connect("results.sqlite") as db:
        db.executescript(TABLE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver)
    print(f"listening on port {server.server_port}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
