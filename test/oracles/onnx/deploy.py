import json, onnxruntime as ort, pandas as pd
session = ort.InferenceSession("nwtco.raw.onnx")
table = pd.read_csv("datasets/nwtco/nwtco.csv")
feed = {}
for one in session.get_inputs():
    is_text = one.type == "tensor(string)"
    feed[one.name] = (table[one.name].fillna("").astype(str) if is_text else table[one.name].astype(float)).to_numpy()
(survival,) = session.run(None, feed)
times = json.loads(session.get_modelmeta().custom_metadata_map["times"])
print(survival.shape, f"{survival[0, -1]:.2f} event-free at {times[-1]:.0f} days")
