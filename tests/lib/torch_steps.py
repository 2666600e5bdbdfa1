# SPDX-License-Identifier: GPL-2.0-or-later
"""
Goes on from a checkpoint of tiderun with PyTorch: the same model written again
with PyTorch's operations and its AdamW, on one sequence.  Prints the loss of
each step.  Arguments: checkpoint, text, sequences of a step, steps, learning
rate.  Reads tensors with h5dump, so an independent reader sees the file too.
"""
import re
import subprocess
import sys
import tempfile

import torch
from torch.nn import functional as F


def h5dump(*arguments):
    return subprocess.run(("h5dump",) + arguments, check=True,
                          capture_output=True, text=True).stdout


def read_tensor(path, name):
    shape = re.search(r"SIMPLE \{ \( ([0-9, ]+) \)", h5dump("-H", "-d", name, path))
    with tempfile.NamedTemporaryFile() as raw:
        h5dump("-d", name, "-b", "LE", "-o", raw.name, path)
        flat = torch.frombuffer(bytearray(raw.read()), dtype=torch.float32)
    return flat.reshape([int(n) for n in shape.group(1).split(",")])


def read_number(path, name):
    return int(re.search(r"\(0\): (\d+)", h5dump("-a", "/" + name, path)).group(1))


def loss_of(p, ids, targets, layers, heads):
    b, t = ids.shape
    c = p["norm.bias"].numel()
    x = p["embedding.token"][ids] + p["embedding.position"][:t]
    for i in range(layers):
        q = {k[len(f"block{i}."):]: v for k, v in p.items()
             if k.startswith(f"block{i}.")}
        y = F.layer_norm(x, (c,), q["norm1.weight"], q["norm1.bias"])
        y = F.linear(y, q["attention.qkv.weight"], q["attention.qkv.bias"])
        query, key, value = (z.view(b, t, heads, c // heads).transpose(1, 2)
                             for z in y.split(c, dim=2))
        a = query @ key.transpose(2, 3) / (c // heads) ** 0.5
        a = a + torch.full((t, t), float("-inf")).triu(1)
        y = (a.softmax(-1) @ value).transpose(1, 2).reshape(b, t, c)
        x = x + F.linear(y, q["attention.proj.weight"], q["attention.proj.bias"])
        y = F.layer_norm(x, (c,), q["norm2.weight"], q["norm2.bias"])
        y = F.gelu(F.linear(y, q["mlp.up.weight"], q["mlp.up.bias"]),
                   approximate="tanh")
        x = x + F.linear(y, q["mlp.down.weight"], q["mlp.down.bias"])
    x = F.layer_norm(x, (c,), p["norm.weight"], p["norm.bias"])
    logits = x @ p["embedding.token"].T
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def main():
    path, text, batch, steps, rate = sys.argv[1:]
    names = re.findall(r"dataset +/parameter/(\S+)", h5dump("-n", path))
    p = {n: read_tensor(path, "/parameter/" + n).requires_grad_() for n in names}
    groups = [{"params": [v for v in p.values() if v.dim() > 1], "weight_decay": 0.1},
              {"params": [v for v in p.values() if v.dim() == 1], "weight_decay": 0.0}]
    opt = torch.optim.AdamW(groups, lr=float(rate), betas=(0.9, 0.95), eps=1e-8)
    done = torch.tensor(float(read_number(path, "step")))
    for name, v in p.items():
        opt.state[v] = {"step": done.clone(),
                        "exp_avg": read_tensor(path, "/adam_m/" + name),
                        "exp_avg_sq": read_tensor(path, "/adam_v/" + name)}
    data = torch.tensor(list(open(text, "rb").read())).repeat(int(batch), 1)
    for _ in range(int(steps)):
        opt.zero_grad()
        loss = loss_of(p, data[:, :-1], data[:, 1:], read_number(path, "layers"),
                       read_number(path, "heads"))
        loss.backward()
        opt.step()
        print(f"{loss.item():.9f}")


main()
