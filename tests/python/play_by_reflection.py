"""Plays a match with no generated code: only grpcio and the server's own reflection.

    python tests/python/play_by_reflection.py target/debug/zetema

starts that server, lists its services, creates a match of two seats, plays it to the end by JoinSeat,
Observe and Act, reads the record, and checks what it saw against it.
"""

import collections
import os
import random
import socket
import subprocess
import sys
import tempfile
import threading

import grpc
from google.protobuf import descriptor_pool, message_factory
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase

DEADLINE_SECONDS = 60


class Client:
    """Calls any method of any service that the server describes."""

    def __init__(self, channel, token):
        self.channel = channel
        self.metadata = [("authorization", f"Bearer {token}")]
        self.database = ProtoReflectionDescriptorDatabase(channel)
        self.pool = descriptor_pool.DescriptorPool(self.database)

    def services(self):
        return sorted(self.database.get_services())

    def call(self, service, method, request, stream=False):
        described = self.pool.FindServiceByName(service).FindMethodByName(method)
        request_class = message_factory.GetMessageClass(described.input_type)
        response_class = message_factory.GetMessageClass(described.output_type)
        make = self.channel.unary_stream if stream else self.channel.unary_unary
        stub = make(
            f"/{service}/{method}",
            request_serializer=lambda message: message.SerializeToString(),
            response_deserializer=response_class.FromString,
        )
        return stub(request_class(**request), metadata=self.metadata, timeout=DEADLINE_SECONDS)


class Server:
    """A server in a process and a folder of its own."""

    def __enter__(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % free.getsockname()[1]
        self.folder = tempfile.TemporaryDirectory()
        self.process = subprocess.Popen(
            [self.program, "serve", "--listen", self.address, "--data", self.folder.name, "--max-late-ms", "60000"],
            stdout=subprocess.DEVNULL,
        )
        self.channel = grpc.insecure_channel(self.address)
        grpc.channel_ready_future(self.channel).result(timeout=DEADLINE_SECONDS)
        with open(os.path.join(self.folder.name, "admin-token"), encoding="ascii") as file:
            self.token = file.read().strip()
        return self

    def __init__(self, program):
        self.program = program

    def __exit__(self, *_):
        self.channel.close()
        self.process.terminate()
        self.process.wait(timeout=DEADLINE_SECONDS)
        self.folder.cleanup()


def play(client, token, seat, seen, chosen):
    """Plays one seat: whatever comes is answered by a legal action at random."""
    choice = random.Random(seat)
    last = 0
    observe = {"seats": [{"seat_token": token}]}
    for message in client.call("zetema.v1.PlayService", "Observe", observe, stream=True):
        kind = message.WhichOneof("kind")
        if kind == "observation":
            observation = message.observation
            assert observation.seq == last + 1, f"a gap: {observation.seq} after {last}"
            last = observation.seq
            decision = observation.decision if observation.HasField("decision") else None
            number = observation.decision_number
        elif kind == "start":
            last = message.start.snapshot.seq
            decision = message.start.snapshot.decision if message.start.snapshot.HasField("decision") else None
            number = message.start.snapshot.decision_number
        elif kind == "end":
            # Whoever began to look later has more of it in its snapshot.
            seen[seat] = last
            return
        else:
            raise AssertionError(f"unexpected {kind}")
        if decision is not None:
            legal = decision.legal_actions
            index = choice.randrange(len(legal.discards) + len(legal.declarations))
            act = {"seat_token": token, "act": {"decision_number": number, "legal_index": index}}
            receipt = client.call("zetema.v1.PlayService", "Act", act).receipt
            again = client.call("zetema.v1.PlayService", "Act", act).receipt
            assert receipt == again, "the same answer gets the same receipt"
            chosen[seat] += 1


def main():
    program = sys.argv[1]
    with Server(program) as server:
        client = Client(server.channel, server.token)
        services = client.services()
        print("services:", ", ".join(services))
        for needed in ("MatchService", "PlayService", "RulesService"):
            assert f"zetema.v1.{needed}" in services, f"{needed} is not described"

        sackson = client.pool.FindEnumTypeByName("zetema.v1.Preset").values_by_name["PRESET_SACKSON"].number
        spec = {"preset": {"preset": sackson}, "seats": [{"token": {}}, {"token": {}}]}
        created = client.call("zetema.v1.MatchService", "CreateMatch", {"match": spec})
        tokens = [seat.token for seat in created.seat_tokens]
        for token in tokens:
            client.call("zetema.v1.PlayService", "JoinSeat", {"seat_token": token})

        seen, chosen = collections.Counter(), collections.Counter()
        failures = []

        def run(seat):
            try:
                play(client, tokens[seat], seat, seen, chosen)
            except BaseException as error:  # noqa: BLE001 - reported by the main thread
                failures.append(error)

        threads = [threading.Thread(target=run, args=(seat,)) for seat in range(len(tokens))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=DEADLINE_SECONDS)
            assert not thread.is_alive(), "the match did not end in time"
        if failures:
            raise failures[0]

        match_id = created.match.match_id
        record = client.call("zetema.v1.MatchService", "GetRecord", {"match_id": match_id}).record
        played = collections.Counter(step.play.seat for step in record.steps if step.HasField("play"))
        assert played == chosen, f"the record holds {played}, the players chose {chosen}"
        assert seen[0] == seen[1] > 0, f"the seats saw {seen}"
        totals = [side.total for side in record.outcome.result.sides]
        print(f"match {match_id}: {sum(played.values())} actions, totals {totals}")
        print("1 passed, 0 failed")


if __name__ == "__main__":
    main()
