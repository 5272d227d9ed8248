"""Runs the example that plots rating histories on what a ladder has exported.

    python tests/python/rating_history_example.py target/debug/zetema

starts that server, lets two house bots play on a ladder, exports its results as Parquet and as JSON Lines, compares what pyarrow
reads with that, and has the example draw them.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import threading

import pyarrow.parquet as pq

LADDER = "quick-2"
MATCHES = 5
DEADLINE_SECONDS = 120
ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "examples" / "rating-history-python" / "plot.py"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        serve = [program, "serve", "--log", "error", "--listen", "127.0.0.1:0", "--data", folder, "--max-late-ms", "60000"]
        server = subprocess.Popen(serve, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            # It says so when it serves.
            url = server.stderr.readline().split("serves at ")[1].split(";")[0]
            check(program, pathlib.Path(folder), url)
        finally:
            server.kill()
            server.wait()


def check(program, folder, url):
    def zetema(*args):
        command = [program, *args, "--server", url]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=DEADLINE_SECONDS, cwd=folder)
        return done.stdout

    def start(bot):
        token = zetema("bot", "register", bot, "--owner", "of-" + bot, "--data", folder).strip()
        command = [program, "bot", "greedy", "--queue", LADDER + ":2", "--nonce-secret", folder / bot, "--token", token, "--server", url]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    bots = [start(bot) for bot in ["ann", "bob"]]
    try:
        # Followed until the ladder has rated so many.
        watch = [program, "ladder", "standings", LADDER, "--watch", "--format", "json", "--server", url]
        with subprocess.Popen(watch, stdout=subprocess.PIPE, text=True) as standings:
            # Killed, it says no more.
            watchdog = threading.Timer(DEADLINE_SECONDS, standings.kill)
            watchdog.daemon = True
            watchdog.start()
            for line in standings.stdout:
                if any(standing["matches"] >= MATCHES for standing in json.loads(line)["standings"]):
                    break
            else:
                raise RuntimeError(f"the ladder has not rated {MATCHES} matches in {DEADLINE_SECONDS} s")
            watchdog.cancel()
            standings.kill()
    finally:
        for bot in bots:
            bot.kill()
            bot.wait()

    results, plot = folder / "results.parquet", folder / "ratings.svg"
    zetema("ladder", "export", "results", LADDER, "--format", "parquet", "--output", results)
    table = pq.read_table(results).to_pylist()
    lines = zetema("ladder", "export", "results", LADDER, "--format", "jsonl").splitlines()
    listed = {result["result_number"]: result for result in map(json.loads, lines)}
    for row in table:
        seat = listed[row["result_number"]]["seats"][row["seat"]]
        assert (row["bot"], row["side"], row["rank"], row["total"]) == (seat["bot"], seat["side"], seat["rank"], seat["total"]), row
        for when in ["before", "after"]:
            rating = seat[when] or {"mu": None, "sigma": None, "shown": None, "provisional": None}
            assert {name: row[f"{name}_{when}"] for name in rating} == rating, row
        assert row["time"].utcoffset().total_seconds() == 0 and row["ladder"] == LADDER, row
    rated = [row for row in table if row["mu_after"] is not None]
    assert len(rated) >= 2 * MATCHES, len(rated)

    said = subprocess.run([sys.executable, EXAMPLE, results, plot], check=True, capture_output=True, text=True).stdout
    assert said.strip() == f"{plot}: 2 bots, {len(rated)} ratings", said
    assert "<svg" in plot.read_text(encoding="utf-8")
    print(f"a rating history of {len(rated)} ratings was drawn")


if __name__ == "__main__":
    main()
