"""What Python makes of exported models: onnx.checker with shape inference, and curves from onnxruntime.

    python -m venv venv && venv/bin/pip install onnx onnxruntime numpy pandas
    venv/bin/python onnx_oracle.py

The .onnx files are what the library writes for `patientModel` of test/files/onnx-models.ts, and the tests hold it to them byte by
byte: after a change of the exporter write them anew (WRITE_ONNX_ORACLES=1 npx vitest run test/files/onnx.test.ts), run this and
then the tests. The table is read with pandas, and its columns are
given as docs/deploy.md says. Made with onnx 1.23.2, onnxruntime 1.31.1.
"""

import json
from pathlib import Path

import onnx
import onnxruntime as ort
import pandas as pd

here = Path(__file__).parent
table = pd.read_csv(here / "patients.csv", parse_dates=["visit"])
table["visit"] = (table["visit"] - pd.Timestamp("1970-01-01")) / pd.Timedelta(days=1)


def give(session):
    for one in session.get_inputs():
        column = table[one.name]
        yield one.name, (column.fillna("").astype(str) if one.type == "tensor(string)" else column.astype(float)).to_numpy()


def encode(session):
    """x from the metadata alone."""
    features = json.loads(session.get_modelmeta().custom_metadata_map["features"])
    columns = []
    for one in features:
        column = table.eval(one["expression"]) if one["type"] == "group" else table[one["column"]]
        if one["type"] == "missing":
            column = column.isna()
        elif one["type"] == "level":
            is_number = pd.api.types.is_numeric_dtype(column)
            column = column == (float(one["level"]) if is_number else one["level"])
        elif one["type"] == "boolean":
            column = column.astype(float).fillna(one["majority"])
        elif one["type"] in ("number", "date"):
            column = (column.fillna(one["median"]) - one["mean"]) / one["sd"]
        columns.append(column.astype("float32"))
    return {"x": pd.concat(columns, axis=1).to_numpy()}


checked, survival = [], {}
for path in sorted(here.glob("*.onnx")):
    onnx.checker.check_model(onnx.load(path), full_check=True)
    checked.append(path.name)
    session = ort.InferenceSession(path)
    feed = dict(give(session)) if path.name.endswith(".raw.onnx") else encode(session)
    (curves,) = session.run(None, feed)
    survival[path.name] = curves.astype(float).tolist()

about = {"made by": Path(__file__).name, "onnx": onnx.__version__, "onnxruntime": ort.__version__}
document = {"about": about, "checked": checked, "survival": survival}
(here / "python.json").write_text(json.dumps(document, indent=1) + "\n")
