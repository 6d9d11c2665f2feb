#!/usr/bin/env python3
"""scale.py [MESSAGES...]: measures what one machine does with logs of so many messages (default 10000000 100000000) and writes the
tables of docs/scale.md. It needs the commands in bin/ (make build), room for two sets of logs and merged logs in $TMPDIR, and,
for the rows of DuckDB, a Python with duckdb (make interop installs one). Every case is run REPS times (3), in turns."""
import datetime
import os
import platform
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BIN = os.path.join(ROOT, "bin")
REPS = int(os.environ.get("REPS", "3"))

DUCKDB = """
import sys, duckdb
db = duckdb.connect()
db.execute("SET threads TO " + sys.argv[1])
db.execute("CREATE VIEW merged AS SELECT * FROM read_parquet('merged.parquet')")
for name in sys.argv[2:]:
    print(db.execute(open(name, encoding="utf-8").read()).fetchall())
"""


def measure(command, folder):
    """Runs a shell command and returns (seconds, CPU seconds, peak MiB of its largest process)."""
    begin = time.monotonic()
    process = subprocess.Popen(["bash", "-c", "set -o pipefail; " + command], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    _, errors = process.communicate()
    took = time.monotonic() - begin
    if process.returncode != 0:
        sys.exit(f"scale.py: {command}: exit status {process.returncode}\n{errors.decode()}")
    return took


def isolated(command, folder):
    """Measures in a process of its own, so that the usage of children is that of this command alone."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        took = measure(command, folder)
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        os.write(write, f"{took} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss / 1024}".encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as f:
        text = f.read()
    _, status = os.waitpid(pid, 0)
    if status != 0 or not text:
        sys.exit("scale.py: stopped")
    return [float(v) for v in text.split()]


def generate(folder, *flags):
    subprocess.run(["go", "run", "./internal/analysis/join/synth/generate", *flags, folder], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


# quantiles.sql takes 10 GiB of memory for so many messages, and ten times that for ten times as many.
MOST_QUANTILES = 10_000_000


def cases(messages, python):
    """(name, folder, command) of everything that is measured."""
    threads = os.cpu_count()
    sql = os.path.join(ROOT, "docs", "sql")
    yield "perf-merge, logs in order", "order", "perf-merge -q --force -o merged.parquet send*.parquet recv*.parquet"
    yield "perf-merge --check", "order", "perf-merge -q --check send*.parquet recv*.parquet"
    yield "perf-merge, all deliveries after the last send", "backlog", "perf-merge -q --force -o merged.parquet send*.parquet recv*.parquet"
    yield "perf-merge -o - piped into perf-report", "order", "perf-merge -q -o - send*.parquet recv*.parquet | perf-report -q -"
    yield "perf-report, the whole text report", "order", "perf-report -q merged.parquet"
    if python:
        duck = f"{python} -c '{DUCKDB}' {threads} {sql}/messages.sql"
        if messages <= MOST_QUANTILES:
            yield "DuckDB, quantiles.sql", "order", f"{duck} {sql}/quantiles.sql"
        yield "DuckDB, series.sql", "order", f"{duck} {sql}/series.sql"
        yield "DuckDB, loss.sql", "order", f"{duck} {sql}/loss.sql"


def table(messages, python):
    folder = tempfile.mkdtemp(prefix="scale-")
    try:
        for name, flags in {"order": [], "backlog": ["-backlog"]}.items():
            os.mkdir(os.path.join(folder, name))
            generate(os.path.join(folder, name), "-messages", str(messages), "-loss", "10000", "-duplicate", "10000", *flags)
        size = sum(os.path.getsize(os.path.join(folder, "order", f)) for f in os.listdir(os.path.join(folder, "order")))
        results = {}
        for _ in range(REPS):
            for name, where, command in cases(messages, python):
                results.setdefault(name, []).append(isolated(command, os.path.join(folder, where)))
        lines = [f"{messages:,} messages, {size / messages:.1f} bytes a message in send and receive log together.", "",
                 "| what | seconds | million rows/s | CPU seconds | peak RSS, MiB |", "|---|--:|--:|--:|--:|"]
        for name, runs in results.items():
            took, cpu, rss = (statistics.median(r[i] for r in runs) for i in range(3))
            lines.append(f"| {name} | {took:.2f} | {messages / took / 1e6:.2f} | {cpu:.2f} | {rss:.0f} |")
        return lines
    finally:
        shutil.rmtree(folder)


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    return f"{os.cpu_count()} × {model}, {memory} GiB, Linux {platform.release()}"


def main():
    os.environ["PATH"] = BIN + ":" + os.environ["PATH"]
    python = os.path.join(os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache")), "amqpperf", "interop", "venv", "bin", "python")
    if not os.path.exists(python):
        print("scale.py: no DuckDB (make interop installs it): its rows are left out", file=sys.stderr)
        python = None
    text = [f"Measured {datetime.datetime.now(datetime.timezone.utc):%Y-%m-%d %H:%M} UTC on {machine()}. Median of {REPS} runs in turns."]
    for messages in [int(m) for m in sys.argv[1:]] or [10_000_000, 100_000_000]:
        text += ["", *table(messages, python)]
    path = os.path.join(ROOT, "docs", "scale.md")
    with open(path, encoding="utf-8") as f:
        before, rest = f.read().split("<!-- scale -->\n", 1)
    after = rest.split("<!-- end -->", 1)[1]
    with open(path, "w", encoding="utf-8") as f:
        f.write(before + "<!-- scale -->\n" + "\n".join(text) + "\n<!-- end -->" + after)


main()
