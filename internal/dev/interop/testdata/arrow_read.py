"""arrow_read.py FOLDER: reads the Parquet logs and the Arrow streams in FOLDER with pyarrow, and prints a JSON summary."""
import json
import sys

import pyarrow.ipc
import pyarrow.parquet

INSTANTS = ("intended", "ready", "sent", "acked", "received", "started", "settled")

folder = sys.argv[1]
rows, types = {}, set()
for name in ("send", "recv", "merged"):
    table = pyarrow.parquet.read_table(f"{folder}/{name}.parquet")
    table.validate(full=True)
    assert table.schema.metadata[b"perf.schema"].decode() == f"{name}/1", table.schema.metadata
    rows[name] = table.num_rows
    types |= {str(f.type) for f in table.schema if f.name in INSTANTS}

# A pipe carries streams one after the other; each ends with its own end-of-stream mark.
schemas, streamed = [], None
with open(f"{folder}/merged.arrows", "rb") as source:
    size = source.seek(0, 2)
    source.seek(0)
    while source.tell() < size:
        with pyarrow.ipc.open_stream(source) as reader:
            table = reader.read_all()
        table.validate(full=True)
        schemas.append(table.schema.metadata[b"perf.schema"].decode())
        if streamed is None:
            streamed = table
            types |= {str(f.type) for f in table.schema if f.name in INSTANTS}

key = ["sender", "producer", "seq", "attempt", "copy"]
first = pyarrow.parquet.read_table(f"{folder}/merged.parquet", columns=key + ["intended", "acked", "received"])
assert streamed.select(first.column_names).sort_by([(k, "ascending") for k in key]) == first.sort_by(
    [(k, "ascending") for k in key]).cast(streamed.select(first.column_names).schema), "the containers differ"

print(json.dumps({
    "send_rows": rows["send"], "recv_rows": rows["recv"], "merged_rows": rows["merged"],
    "schemas": schemas, "types": sorted(types),
}))
