"""What Python's safetensors reads in a model file, and a file that it writes.

    python -m venv venv && venv/bin/pip install safetensors numpy
    venv/bin/python safetensors_oracle.py

tiny.model is what the library writes for `smallNetwork` of test/files/sample-models.ts; the tests hold it to that. This
script cuts the weights out of it as docs/model-file.md says, opens them with safetensors (as bytes and as a file) and
writes what it saw to safetensors.json; and it writes python.safetensors for our reader to open. Made with safetensors 0.8.0.
"""

import hashlib
import json
import struct
import tempfile
from pathlib import Path

import numpy as np
import safetensors
from safetensors import safe_open
from safetensors.numpy import load, save

here = Path(__file__).parent


def show(array):
    return {
        "dtype": str(array.dtype),
        "shape": list(array.shape),
        "hex": np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes().hex(),
    }


data = (here / "tiny.model").read_bytes()
magic, version, header_bytes, weights_bytes = struct.unpack("<8sIIQ", data[:24])
assert magic == b"\x89GRD\r\n\x1a\n" and version == 1
assert len(data) == 24 + header_bytes + weights_bytes + 32
assert hashlib.sha256(data[:-32]).digest() == data[-32:]
header = json.loads(data[24 : 24 + header_bytes])
weights = data[24 + header_bytes : 24 + header_bytes + weights_bytes]
tensors = load(weights)

with tempfile.NamedTemporaryFile(suffix=".safetensors") as file:
    file.write(weights)
    file.flush()
    with safe_open(file.name, framework="numpy") as opened:
        assert sorted(opened.keys()) == sorted(tensors)
        for key in opened.keys():
            assert opened.get_tensor(key).tobytes() == tensors[key].tobytes()

written = {
    "single": np.array([[1.5, -0.0, 1e-45], [3.0, -2.5, 0.1]], dtype=np.float32),
    "double": np.array([0.1, 1e300, 5e-324], dtype=np.float64),
    "empty": np.zeros((0, 3), dtype=np.float32),
    "scalar": np.array(7.25, dtype=np.float64),
}
(here / "python.safetensors").write_bytes(save(written, metadata={"from": "Python"}))

(here / "safetensors.json").write_text(
    json.dumps(
        {
            "safetensors": safetensors.__version__,
            "kind": header["kind"],
            "method": header["method"],
            "tiny": {name: show(array) for name, array in sorted(tensors.items())},
            "python": {name: show(array) for name, array in sorted(written.items())},
        },
        indent=1,
    )
    + "\n"
)
