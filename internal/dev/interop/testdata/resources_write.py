"""resources_write.py FOLDER: writes what the host of a broker used during the run in FOLDER, as other programs would: with
pyarrow in three kinds of Parquet and with DuckDB in a fourth. 100 % of a core and 1 MiB, ten times a second."""
import json
import sys

import duckdb
import pyarrow
import pyarrow.parquet

folder = sys.argv[1]
span = pyarrow.parquet.read_table(f"{folder}/send.parquet", columns=["intended"])["intended"]
first, last = min(span.to_pylist()), max(span.to_pylist())
instants = list(range(first, last, 100_000_000))
n = len(instants)
kinds = {
    "ns": pyarrow.array(instants, pyarrow.timestamp("ns", "UTC")),
    "us": pyarrow.array([t // 1000 for t in instants], pyarrow.timestamp("us")),
    "seconds": pyarrow.array([t / 1e9 for t in instants], pyarrow.float64()),
}
for kind, time in kinds.items():
    table = pyarrow.table({
        "host": pyarrow.array(["b"] * n), "time": time, "cpu_percent": pyarrow.array([100.0] * n, pyarrow.float32()),
        "rss_bytes": pyarrow.array([1 << 20] * n, pyarrow.int64()),
    })
    pyarrow.parquet.write_table(table, f"{folder}/resources-{kind}.parquet", use_dictionary=kind != "us", version="2.6")
duckdb.sql(f"""copy (select make_timestamp_ns(unnest({instants})) as "time", 100.0::double as cpu_percent, 1048576 as rss_bytes)
    to '{folder}/resources-duckdb.parquet' (format parquet)""")
print(json.dumps(sorted(kinds) + ["duckdb"]))
