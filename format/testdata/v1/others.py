"""Makes the logs of others in this folder from send.parquet.

    python3 -m venv venv && venv/bin/pip install pyarrow duckdb && venv/bin/python others.py

They have what somebody writes who knows only docs/format.md: every integer an
int64, every column nullable, strings as the library likes them, one column of
their own, and perf.schema and perf.run as the only metadata.
"""
import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

META = {"perf.schema": "send/1", "perf.run": "r"}

ours = pq.read_table("send.parquet")
columns = {}
for name in ours.column_names:
    c = ours[name]
    columns[name] = c.cast(pa.int64() if pa.types.is_integer(c.type) else pa.large_string())
columns["note"] = pa.array([1.5] * len(ours))
theirs = pa.table(columns).replace_schema_metadata(META)
pq.write_table(theirs, "pyarrow-send.parquet")
pq.write_table(theirs, "pyarrow-v2-send.parquet", version="2.6", data_page_version="2.0", compression="zstd",
               use_dictionary=False, row_group_size=3)
duckdb.sql("copy (from theirs) to 'duckdb-send.parquet' (format parquet, "
           "kv_metadata {'perf.schema': 'send/1', 'perf.run': 'r'})")
