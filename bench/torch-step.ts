/**
 * The peer of webgpu-training.bench.ts and webgpu-causes.bench.ts: the same whole step in PyTorch with cuDNN's LSTM, in
 * float32 without TF32, once as it is written and once as a CUDA graph; the better one counts. All lengths in one
 * process, which is gone, with the memory it held, before ours begins. Python is found as `python3`, or as PYTHON says.
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
T, H, G, B = 102, 50, 25, 10
device = "cuda"
asked = json.loads(sys.argv[1])
K = asked["causes"]

def build(N, D):
    lstm, head = nn.LSTM(D + 1, H).to(device), nn.Linear(H, K).to(device)
    parameters = list(lstm.parameters()) + list(head.parameters())
    optimiser = torch.optim.Adam(parameters, 1e-3, capturable=True, fused=True)
    x = torch.randn(N, D, device=device)
    time_input = (torch.arange(1, T + 1, device=device).float() / T).view(T, 1, 1).expand(T, N, 1)
    given = torch.cat([x.unsqueeze(0).expand(T, N, D), time_input], 2).contiguous()
    members = (torch.rand(G, N, device=device) < 0.3).float()
    bin = torch.randint(1, T + 1, (N, 1), device=device)
    bins = torch.arange(1, T + 1, device=device).unsqueeze(0)
    event = (torch.rand(N, device=device) < 0.2).float()
    at, before, upto = (bins == bin).float(), (bins < bin).float(), (bins <= bin).float()
    if K > 1:
        return causes_step(lstm, head, optimiser, given, members, upto, at * event.unsqueeze(1))
    members = members / members.sum(1, keepdim=True)
    target, multipliers = torch.rand(G, T, device=device), torch.rand(G, device=device)
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

def causes_step(lstm, head, optimiser, given, members, upto, happened):
    N = members.shape[1]
    block = torch.zeros(T, B, device=device)
    for b in range(B):
        block[b * T // B:(b + 1) * T // B, b] = 1
    of_cause = nn.functional.one_hot(torch.randint(0, K, (N,), device=device), K).float()
    happened = (happened.unsqueeze(2) * of_cause.unsqueeze(1)).contiguous()  # [N,T,K]
    observed = torch.einsum("gn,ntk,tb->gkb", members, happened, block)
    multipliers = torch.rand(G, K, device=device)
    def step():
        optimiser.zero_grad(set_to_none=False)
        logits = head(lstm(given)[0]).transpose(0, 1)
        logs = nn.functional.log_softmax(nn.functional.pad(logits, (1, 0)), 2)
        hazards = torch.exp(logs[:, :, 1:]) * upto.unsqueeze(2)
        # -log(1 - h.) in every bin at risk, and in the bin of an event -log h_k in its place.
        alive = (upto - happened.sum(2)) * logs[:, :, 0]
        loss = -(alive.sum() + (happened * logs[:, :, 1:]).sum()) / N
        events = hazards.transpose(1, 2) @ block  # [N,K,B]
        with torch.no_grad():
            spreads = (hazards * (1 - hazards)).transpose(1, 2) @ block
            variance = (members @ spreads.reshape(N, K * B)).reshape(G, K, B).clamp(min=0.01)
        expected = (members @ events.reshape(N, K * B)).reshape(G, K, B)
        gaps = ((observed - expected) ** 2 / variance).mean(2) - 0.5
        (loss + (multipliers * gaps).sum()).backward()
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

for N, D in asked["lengths"]:
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

/**
 * By the number of rows; none where there is no PyTorch with a CUDA device. One kind of event is the paper's step;
 * several causes are held to the events expected of each group and cause.
 */
export function timeTorch(
  lengths: readonly (readonly [number, number])[],
  causes = 1,
): ReadonlyMap<number, TorchTimes> {
  const asked = JSON.stringify({ lengths, causes });
  const { stdout } = spawnSync(process.env.PYTHON ?? "python3", ["-c", SCRIPT, asked], {
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

export interface Peer {
  readonly baseline?: { readonly name: string; readonly seconds: number };
  readonly torch?: Readonly<Record<"eagerMs" | "graphMs", number | string>>;
}

/** PyTorch's better time as a baseline, and both. */
export function describeTorch(times: TorchTimes | undefined): Peer {
  if (times === undefined) return {};
  const { version, eager, graph } = times;
  const measured = [eager, graph].filter((one) => typeof one === "number");
  const show = (one: number | string) => (typeof one === "number" ? Math.round(1000 * one) / 1000 : one);
  return {
    ...(measured.length > 0 && {
      baseline: {
        name: `PyTorch ${version}, cuDNN, the better of eager and CUDA graph`,
        seconds: Math.min(...measured) / 1000,
      },
    }),
    torch: { eagerMs: show(eager), graphMs: show(graph) },
  };
}
