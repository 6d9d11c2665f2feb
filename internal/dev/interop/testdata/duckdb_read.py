"""duckdb_read.py FOLDER WARMUP_NS: counts and exact quantiles of the logs in FOLDER, by SQL alone, as JSON."""
import json
import sys

import duckdb

folder, warmup = sys.argv[1], int(sys.argv[2])
db = duckdb.connect()
for name in ("send", "recv", "merged"):
    db.execute(f"CREATE VIEW {name} AS SELECT * FROM read_parquet('{folder}/{name}.parquet')")


def value(sql):
    return db.execute(sql).fetchone()[0]


# Which rows a metric is over: send-side ones are over primary rows, receive-side ones over first arrivals.
METRICS = {
    "response": ("acked - intended", "\"primary\""),
    "service": ("acked - sent", "\"primary\""),
    "transit": ("received - sent", "copy = 0 AND received IS NOT NULL"),
    "e2e": ("received - intended", "copy = 0 AND received IS NOT NULL"),
}
quantiles = {}
for metric, (expression, rows) in METRICS.items():
    for name in ("50", "90", "99", "99.9"):
        permille = int(float(name) * 10)
        # The value of rank ceil(p·n), in integers, so that no rounding of p·n can choose the rank next to it.
        quantiles[f"{metric} {name}"] = value(f"""
            WITH kept AS (
                SELECT {expression} AS v FROM merged
                WHERE {rows} AND intended >= (SELECT min(intended) FROM merged) + {warmup}),
            ranked AS (SELECT v, row_number() OVER (ORDER BY v) AS r, count(*) OVER () AS n FROM kept)
            SELECT v FROM ranked WHERE r = (n * {permille} + 999) // 1000""")

types = set()
for name in ("send", "recv", "merged"):
    for column, kind in db.execute(f"SELECT column_name, column_type FROM (DESCRIBE {name})").fetchall():
        if column in ("intended", "ready", "sent", "acked", "received", "started", "settled"):
            types.add(kind)

print(json.dumps({
    "send_rows": value("SELECT count(*) FROM send"),
    "recv_rows": value("SELECT count(*) FROM recv"),
    "merged_rows": value("SELECT count(*) FROM merged"),
    "outcomes": dict(db.execute("SELECT outcome, count(*) FROM merged WHERE \"primary\" GROUP BY ALL").fetchall()),
    "quantiles": quantiles,
    "types": sorted(types),
}))
