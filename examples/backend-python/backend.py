"""A backend that has matches played by others, and reads every result exactly once.

    python backend.py COUNT

creates so many matches in one call, writes the tokens of their seats to seat-tokens.txt for those who play, and follows the
results until it has them all. What it knows is in backend.sqlite: killed at any moment and started again, it goes on where it
was. ZETEMA_SERVER is the server's address, ZETEMA_TOKEN the token to create by.
"""

import os
import sqlite3
import sys
import time
import uuid

import grpc

from zetema.v1 import match_pb2, match_service_pb2, match_service_pb2_grpc, result_pb2, rules_pb2, time_control_pb2

# A connection that is dead is noticed, and what the server has refused is not asked again.
OPTIONS = [
    ("grpc.keepalive_time_ms", 20_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.max_receive_message_length", 16 << 20),
]
DEADLINE_SECONDS = 60
PAUSE_SECONDS = 0.5
PASSES = {
    grpc.StatusCode.UNAVAILABLE,
    grpc.StatusCode.UNKNOWN,
    grpc.StatusCode.INTERNAL,
    grpc.StatusCode.ABORTED,
    grpc.StatusCode.CANCELLED,
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}

# One row says what was asked for and how far the results were read; the other table is what was made of them.
TABLES = """
    CREATE TABLE IF NOT EXISTS batch (request_id TEXT NOT NULL, count INTEGER NOT NULL, cursor TEXT);
    CREATE TABLE IF NOT EXISTS results (match_id TEXT PRIMARY KEY, result_number INTEGER UNIQUE NOT NULL, outcome TEXT NOT NULL);
"""


class Backend:
    def __init__(self, count):
        self.server = os.environ.get("ZETEMA_SERVER", "http://127.0.0.1:4680").removeprefix("http://")
        self.metadata = [("authorization", "Bearer " + os.environ["ZETEMA_TOKEN"].strip())]
        self.db = sqlite3.connect("backend.sqlite")
        self.db.executescript(TABLES)
        # Stored before anything is asked for: it names the request, so that asking again makes no other matches, and
        # the matches, so that only theirs are followed.
        with self.db:
            begin = "INSERT INTO batch SELECT ?, ?, NULL WHERE NOT EXISTS (SELECT * FROM batch)"
            self.db.execute(begin, (uuid.uuid4().hex, count))
        self.request_id, self.count = self.db.execute("SELECT request_id, count FROM batch").fetchone()
        if count != self.count:
            sys.exit(f"this folder's batch is of {self.count} matches: give that, or begin in another folder")

    def run(self):
        with grpc.insecure_channel(self.server, OPTIONS) as channel:
            matches = match_service_pb2_grpc.MatchServiceStub(channel)
            if self.cursor() is None:
                self.create(matches)
            self.follow(matches)

    def create(self, matches):
        """Creates the matches, and hands out their seats. Done again it gets the same."""
        print(f"creating {self.count} matches", flush=True)
        spec = match_pb2.MatchSpec(
            preset=match_pb2.PresetRules(preset=rules_pb2.PRESET_VICTORIAN),
            seats=[match_pb2.SeatSpec(token=match_pb2.TokenSeat())] * 2,
            time_control=time_control_pb2.TimeControl(named=time_control_pb2.NAMED_TIME_CONTROL_BLITZ),
            client_reference=self.request_id,
        )
        request = match_service_pb2.BatchCreateMatchesRequest(request_id=self.request_id, matches=[spec] * self.count)
        created = matches.BatchCreateMatches(request, metadata=self.metadata, timeout=DEADLINE_SECONDS).matches
        tokens = [seat.token + "\n" for one in created for seat in one.seat_tokens]
        with open("seat-tokens.part", "w", encoding="ascii") as file:
            file.writelines(tokens)
        os.replace("seat-tokens.part", "seat-tokens.txt")
        print(f"handed out {len(tokens)} seats", flush=True)

    def follow(self, matches):
        """Follows the results from where it was, until all are there."""
        request = match_service_pb2.WatchResultsRequest(
            after=self.cursor(),
            filter=match_service_pb2.ResultFilter(client_reference=self.request_id),
        )
        results = matches.WatchResults(request, metadata=self.metadata)
        while self.read() < self.count:
            message = next(results, None)
            if message is None:
                return
            # The result and the cursor after it are stored together: neither is ever there without the other.
            with self.db:
                if message.WhichOneof("kind") == "ended":
                    ended, number = message.ended.match, message.ended.result_number
                    how = outcome(ended)
                    self.db.execute("INSERT INTO results VALUES (?, ?, ?)", (ended.match_id, number, how))
                    print(f"result {number}: match {ended.match_id} {how}", flush=True)
                self.db.execute("UPDATE batch SET cursor = ?", (message.cursor,))

    def cursor(self):
        return self.db.execute("SELECT cursor FROM batch").fetchone()[0]

    def read(self):
        return self.db.execute("SELECT count(*) FROM results").fetchone()[0]


def outcome(ended):
    """How a match ended, in a few words."""
    if ended.outcome.WhichOneof("kind") == "result":
        return " : ".join(str(side.total) for side in ended.outcome.result.sides)
    return result_pb2.AbortReason.Name(ended.outcome.aborted.reason)


def main():
    if len(sys.argv) != 2:
        sys.exit("say how many matches: python backend.py COUNT")
    backend = Backend(int(sys.argv[1]))
    while backend.read() < backend.count:
        try:
            backend.run()
        except grpc.RpcError as error:
            if error.code() not in PASSES:
                raise
            print(f"trying again: {error.details()}", file=sys.stderr, flush=True)
            time.sleep(PAUSE_SECONDS)
    print(f"all {backend.count} results are there", flush=True)


if __name__ == "__main__":
    main()
