#!/usr/bin/env python3
"""against-duckdb.py [MESSAGES]: compares perf-merge and perf-report with DuckDB on logs of so many messages (default 10000000), with equal
threads: the join written as Parquet, with the columns that SQL can compute (not reordered and bound, which ours has too) and the same rows;
the exact quantiles of four latencies, series per second, and the whole text report against both of these. In turns, REPS times (5).
It needs Go, and a Python with duckdb: it starts itself again with the one that make interop installs. Room in $TMPDIR: some 25 bytes a message.
Ours must be DuckDB's numbers: quantiles and counts to the last digit, the quantiles of single seconds, which it finds exactly, within 1/256.
DuckDB's time is that of its queries alone; ours is that of whole processes."""
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPS = int(os.environ.get("REPS", "5"))
THREADS = len(os.sched_getaffinity(0))
PERCENTILES = "[0.5, 0.9, 0.99, 0.999, 0.9999]"

# Of the second of each instant what is counted, and of the second in which messages were intended their latencies.
QUERIES = {
    "quantiles": "SELECT " + ", ".join(f"quantile_disc({v}, {PERCENTILES})" for v in
                                       ("acked - sent", "acked - intended", "received - sent", "received - intended")) + " FROM merged WHERE copy = 0",
    "series": " UNION ALL ".join(
        f"SELECT '{step}' AS step, {step} // 1000000000 AS second, count(*) AS n, {latencies} FROM merged WHERE copy = 0 AND {step} IS NOT NULL GROUP BY second"
        for step, latencies in {
            "intended": ", ".join(f"quantile_disc({v}, [0.5, 0.99, 0.999]), max({v})" for v in ("acked - intended", "acked - sent", "received - intended")),
            "sent": "NULL, NULL, NULL, NULL, NULL, NULL", "acked": "NULL, NULL, NULL, NULL, NULL, NULL", "received": "NULL, NULL, NULL, NULL, NULL, NULL",
        }.items()) + " ORDER BY step, second",
}

# Every first arrival is copy 0 of its transmission, and stands in its primary row.
MERGE = """COPY (
    SELECT run, sender, producer, seq, attempt, s.destination, s.size, s.intended, ready, s.sent, acked, s.outcome, wait, error, s.connection,
           r.destination AS source, receiver, consumer, subscription, broker_in, received, started, settled,
           CASE WHEN received IS NULL AND s.outcome = 'accepted' THEN 'lost' ELSE r.outcome END AS recv_outcome, delivery_count,
           r.connection AS recv_connection, coalesce(r.copy, 0) AS copy, coalesce(r.copy, 0) = 0 AS "primary"
    FROM read_parquet('{folder}/send0.parquet') s LEFT JOIN (
        SELECT *, (row_number() OVER (PARTITION BY run, sender, producer, seq, attempt ORDER BY received) - 1)::INTEGER AS copy
        FROM read_parquet('{folder}/recv0.parquet')) r
    USING (run, sender, producer, seq, attempt)
) TO '{folder}/theirs.parquet' (FORMAT parquet, COMPRESSION zstd)"""

SAME = """SELECT count(*), sum(hash(run, sender, producer, seq, attempt, copy, "primary", size, intended, ready, sent, acked, outcome, receiver, consumer,
    received, started, settled, recv_outcome)::HUGEINT), sum((recv_outcome = 'lost')::INT), sum((copy > 0)::INT) FROM read_parquet('{log}')"""

DUCKDB = """
import resource, sys, time, duckdb
db = duckdb.connect()
db.execute("SET threads TO " + sys.argv[1])
db.execute("SET enable_progress_bar = false")
if sys.argv[2]:
    db.execute("CREATE VIEW merged AS SELECT * FROM read_parquet('" + sys.argv[2] + "')")
def usage():
    r = resource.getrusage(resource.RUSAGE_SELF)
    return r.ru_utime + r.ru_stime
cpu, begin = usage(), time.monotonic()
for query in sys.argv[3:]:
    db.execute(query).fetchall()
print(time.monotonic() - begin, usage() - cpu, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def same_quantiles(log, bench, library):
    """Ends the script if ours are not DuckDB's to the nanosecond."""
    theirs = [list(v) for v in library.sql(QUERIES["quantiles"].replace("merged", f"read_parquet('{log}')")).fetchone()]
    ours = bench("BenchmarkFourQuantiles")
    if ours != theirs:
        sys.exit(f"against-duckdb.py: the quantiles differ: ours {ours}, theirs {theirs}")


def same_series(log, bench, library):
    """Ends the script if a count or a largest value differs, or one of our quantiles is not DuckDB's as a histogram of 1/256 has it."""
    ours = {}
    for second in bench("BenchmarkPerSecondSeries"):
        for step in ("Intended", "Sent", "Acked", "Received"):
            if second[step]:
                latencies = [second[m] for m in ("Response", "Service", "E2E")] if step == "Intended" else [None] * 3
                ours[step.lower(), second["At"]] = second[step], latencies
    rows = library.sql(QUERIES["series"].replace("merged", f"read_parquet('{log}')")).fetchall()
    if len(rows) != len(ours):
        sys.exit(f"against-duckdb.py: {len(ours)} seconds of ours, {len(rows)} of theirs")
    for step, second, n, *latencies in rows:
        count, metrics = ours.get((step, second), (0, []))
        same = count == n
        for metric, quantiles, largest in zip(metrics, latencies[::2], latencies[1::2]):
            if quantiles is None:
                same = same and metric in (None, [0, 0, 0, 0])
            else:
                same = same and metric[3] == largest and all(b <= a <= b + abs(b) / 256 for a, b in zip(metric, quantiles))
        if not same:
            sys.exit(f"against-duckdb.py: second {second} of {step} differs: ours {count} {metrics}, theirs {n} {latencies}")


def duckdb(log, *queries):
    """Returns (seconds, CPU seconds, peak MiB) of queries."""
    out = subprocess.run([sys.executable, "-c", DUCKDB, str(THREADS), log, *(QUERIES.get(q, q) for q in queries)], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [float(v) for v in out.split()]


def ours(log, *command):
    """Returns (seconds, CPU seconds, peak MiB) of a process."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, "GOMAXPROCS": str(THREADS), "PERF_LOG": log})
    _, status, usage = os.wait4(process.pid, 0)
    took = time.monotonic() - begin
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"against-duckdb.py: {' '.join(command)}: exit status {process.returncode}")
    return [took, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024]


def main():
    try:
        import duckdb as library
    except ImportError:
        venv = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "amqpperf", "interop", "venv", "bin", "python")
        if not os.path.exists(venv) or os.environ.get("DUCKDB_PY_AGAIN"):
            sys.exit("against-duckdb.py: no DuckDB: make interop installs it")
        os.execve(venv, [venv, *sys.argv], {**os.environ, "DUCKDB_PY_AGAIN": "1"})
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory(prefix="duckdb-") as folder:
        def go(*args):
            subprocess.run(["go", *args], cwd=ROOT, check=True, stdout=subprocess.DEVNULL, env={**os.environ, "CGO_ENABLED": "0"})

        go("build", "-o", folder, "./cmd/perf-merge", "./cmd/perf-report")
        go("test", "-c", "-o", f"{folder}/reduce.test", "./internal/analysis/reduce")
        go("run", "./internal/analysis/join/synth/generate", "-messages", str(messages), "-loss", "10000", "-duplicate", "10000", folder)
        log = f"{folder}/merged.parquet"
        subprocess.run([f"{folder}/perf-merge", "-q", "-o", log, f"{folder}/send0.parquet", f"{folder}/recv0.parquet"], check=True)

        def part(name):
            return ours(log, f"{folder}/reduce.test", "-test.run", "^$", "-test.bench", f"^{name}$", "-test.benchtime", "1x")

        def bench(name):
            found = f"{folder}/found.json"
            os.environ["PERF_FOUND"] = found
            part(name)
            del os.environ["PERF_FOUND"]
            with open(found, encoding="utf-8") as file:
                return json.load(file)

        def merged():
            log = f"{folder}/ours.parquet"
            return ours(log, f"{folder}/perf-merge", "-q", "--force", "-o", log, f"{folder}/send0.parquet", f"{folder}/recv0.parquet")

        cases = {
            "join, written as Parquet": (merged, lambda: duckdb("", MERGE.format(folder=folder))),
            "exact quantiles of four latencies": (lambda: part("BenchmarkFourQuantiles"), lambda: duckdb(log, "quantiles")),
            "series per second": (lambda: part("BenchmarkPerSecondSeries"), lambda: duckdb(log, "series")),
            "whole text report / quantiles and series": (lambda: ours(log, f"{folder}/perf-report", "-q", log), lambda: duckdb(log, "quantiles", "series")),
        }
        results = {name: ([], []) for name in cases}
        for rep in range(-1, REPS):  # the first one is to have the file in memory
            for name, sides in cases.items():
                for i in (0, 1) if rep % 2 else (1, 0):
                    measured = sides[i]()
                    if rep >= 0:
                        results[name][i].append(measured)
        # After the measurements: the peak of a process is at least what this one has when it starts it.
        same_quantiles(log, bench, library)
        same_series(log, bench, library)
        same = [library.sql(SAME.format(log=f"{folder}/{log}.parquet")).fetchall() for log in ("ours", "theirs")]
        if same[0] != same[1]:
            sys.exit(f"against-duckdb.py: the joins differ: rows, hash, lost, copies are {same[0]} and {same[1]}")
        print(f"{messages:,} messages, DuckDB {library.__version__}, {THREADS} threads each, {platform.processor() or platform.machine()}; medians of {REPS} in turns.\n")
        print("| what | ours, s | DuckDB, s | times faster | ours, CPU s | DuckDB, CPU s | times less | ours, peak MiB | DuckDB, peak MiB |")
        print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
        for name, (a, b) in results.items():
            def median(of, k):
                return statistics.median(r[k] for r in of)

            def ratio(k):
                return statistics.median(y[k] / x[k] for x, y in zip(a, b))

            print(f"| {name} | {median(a, 0):.2f} | {median(b, 0):.2f} | {ratio(0):.1f} | {median(a, 1):.2f} | {median(b, 1):.2f} | {ratio(1):.1f} "
                  f"| {median(a, 2):.0f} | {median(b, 2):.0f} |")


main()
