/**
 * The peer of webgpu-training.bench.ts: the same whole step in PyTorch with cuDNN's LSTM, in float32 without TF32, once
 * as it is written and once as a CUDA graph; the better one counts. All lengths in one process, which is gone, with the
 * memory it held, before ours begins. Python is found as `python3`, or as PYTHON says.
 */
import { spawnSync } from "node:child_process";

/** Milliseconds a step, or why there are none. */
export interface TorchTimes {
  readonly version: string;
  readonly eager: number | string;
  readonly graph: number | string;
}

const SCRIPT = `
import gc, json, sys, time
import torch
import torch.nn as nn

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
T, H, G = 102, 50, 25
device = "cuda"

def build(N, D):
    lstm, head = nn.LSTM(D + 1, H).to(device), nn.Linear(H, 1).to(device)
    parameters = list(lstm.parameters()) + list(head.parameters())
    optimiser = torch.optim.Adam(parameters, 1e-3, capturable=True, fused=True)
    x = torch.randn(N, D, device=device)
    time_input = (torch.arange(1, T + 1, device=device).float() / T).view(T, 1, 1).expand(T, N, 1)
    given = torch.cat([x.unsqueeze(0).expand(T, N, D), time_input], 2).contiguous()
    members = (torch.rand(G, N, device=device) < 0.3).float()
    members = members / members.sum(1, keepdim=True)
    target, multipliers = torch.rand(G, T, device=device), torch.rand(G, device=device)
    bin = torch.randint(1, T + 1, (N, 1), device=device)
    bins = torch.arange(1, T + 1, device=device).unsqueeze(0)
    event = (torch.rand(N, device=device) < 0.2).float()
    at, before, upto = (bins == bin).float(), (bins < bin).float(), (bins <= bin).float()
    def step():
        optimiser.zero_grad(set_to_none=False)
        logits = head(lstm(given)[0]).squeeze(-1).t()
        survive, fail = -nn.functional.softplus(logits), -nn.functional.softplus(-logits)
        curves = torch.exp(torch.cumsum(survive, 1))
        tail = torch.log1p(-curves[:, -1].clamp(max=1 - 1e-6))
        uncensored = -((fail * at).sum(1) + (survive * before).sum(1)) - tail
        censored = -(survive * upto).sum(1)
        gaps = ((members @ curves - target) ** 2).mean(1) - 0.01
        loss = (event * uncensored + (1 - event) * censored).mean() + (multipliers * gaps).sum()
        loss.backward()
        optimiser.step()
    return step

def measure(N, D, graph):
    step = build(N, D)
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(5):
            step()
    torch.cuda.current_stream().wait_stream(stream)
    torch.cuda.synchronize()
    run = step
    if graph:
        captured = torch.cuda.CUDAGraph()
        with torch.cuda.graph(captured):
            step()
        run = captured.replay
    for _ in range(5):
        run()
    torch.cuda.synchronize()
    count = 50 if N <= 20000 else 15
    started = time.perf_counter()
    for _ in range(count):
        run()
    torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - started) / count

for N, D in json.loads(sys.argv[1]):
    line = {"N": N, "version": torch.__version__}
    for name, graph in (("eager", False), ("graph", True)):
        try:
            line[name] = measure(N, D, graph)
        except Exception as error:
            text = str(error).splitlines()[0] if str(error) else type(error).__name__
            line[name] = "out of memory" if "out of memory" in text or "ALLOC" in text else text[:100]
        gc.collect()
        torch.cuda.empty_cache()
    print(json.dumps(line), flush=True)
`;

/** By the number of rows; none where there is no PyTorch with a CUDA device. */
export function timeTorch(lengths: readonly (readonly [number, number])[]): ReadonlyMap<number, TorchTimes> {
  const { stdout } = spawnSync(process.env.PYTHON ?? "python3", ["-c", SCRIPT, JSON.stringify(lengths)], {
    encoding: "utf8",
    timeout: 240_000,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const lines = (stdout ?? "").split("\n").filter((line) => line.startsWith("{"));
  return new Map(
    lines.map((line) => {
      const { N, ...times } = JSON.parse(line) as TorchTimes & { readonly N: number };
      return [N, times];
    }),
  );
}
