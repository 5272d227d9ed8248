"""Plots how the ratings of a ladder's bots went, from a Parquet file that `zetema ladder export` has written.

    python plot.py results.parquet ratings.svg [BOT ...]

Without names it shows the eight bots that come first at the end. The end of the second name says what is written: .svg, .png
or .pdf.
"""

import sys

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import pyarrow.compute as pc
import pyarrow.parquet as pq

SHOWN = 8
COLUMNS = ["ladder", "result_number", "time", "bot", "mu_after", "sigma_after", "shown_after"]


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    source, target, names = sys.argv[1], sys.argv[2], sys.argv[3:]
    # A row for each seat. A match that was not rated has no ratings.
    rows = pq.read_table(source, columns=COLUMNS)
    rows = rows.filter(pc.is_valid(rows["mu_after"])).sort_by("result_number")
    if rows.num_rows == 0:
        sys.exit(f"{source} has no rated match")

    # The last row of a bot has the rating that it has now.
    now = {row["bot"]: row["shown_after"] for row in rows.select(["bot", "shown_after"]).to_pylist()}
    names = names or sorted(now, key=now.get, reverse=True)[:SHOWN]
    figure, axes = plt.subplots(figsize=(10, 6), layout="constrained")
    for name in names:
        own = rows.filter(pc.equal(rows["bot"], name))
        if own.num_rows == 0:
            sys.exit(f"{source} has no rated match of {name}")
        time, mu, sigma = (own[column].to_numpy() for column in ["time", "mu_after", "sigma_after"])
        (line,) = axes.step(time, mu, where="post", label=f"{name}: {now[name]:.1f} after {own.num_rows} matches")
        axes.fill_between(time, mu - sigma, mu + sigma, step="post", color=line.get_color(), alpha=0.15, linewidth=0)
    axes.set_title(f"Ratings on {rows['ladder'][0]}")
    axes.set_xlabel("time, UTC")
    axes.set_ylabel("μ ± σ, in rating points")
    axes.legend(title="μ − 3σ now")
    axes.grid(alpha=0.3)
    figure.autofmt_xdate()
    figure.savefig(target)
    print(f"{target}: {len(names)} bots, {rows.num_rows} ratings")


if __name__ == "__main__":
    main()
