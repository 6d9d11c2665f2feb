"""sql_run.py SQL FOLDER: runs the queries of docs/sql over base.parquet and new.parquet in FOLDER, and prints their rows as JSON."""
import decimal
import json
import sys

import duckdb

queries, folder = sys.argv[1], sys.argv[2]


def text(name):
    with open(f"{queries}/{name}.sql", encoding="utf-8") as f:
        return f.read()


def plain(value):
    return int(value) if isinstance(value, decimal.Decimal) else value


def run(files, names, sides=()):
    db = duckdb.connect()
    db.execute(f"CREATE VIEW merged AS SELECT * FROM read_parquet({[f'{folder}/{name}.parquet' for name in files]})")
    db.execute("CREATE TABLE sides (run VARCHAR, side VARCHAR)")
    for pair in sides:
        db.execute("INSERT INTO sides VALUES (?, ?)", list(pair))
    db.execute(text("messages"))
    result = {}
    for name in names:
        cursor = db.execute(text(name))
        titles = [column[0] for column in cursor.description]
        result[name] = [{t: plain(v) for t, v in zip(titles, row)} for row in cursor.fetchall()]
    return result


answers = run(["new"], ["loss", "subscriptions", "duplicates", "quantiles", "series"])
answers |= run(["base", "new"], ["comparison"], [("base", "base"), ("new", "new")])
print(json.dumps(answers))
