# SPDX-License-Identifier: GPL-2.0-or-later
"""
The peer of bench-train: the reference model in PyTorch under
DistributedDataParallel over gloo, on random tokens.  Prints the tokens per
second of all ranks for each step after the first two, one a line, from rank 0.

RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT as torch.distributed wants them;
arguments: steps, sequences of a rank.
"""
import os
import sys
import time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F

LAYERS, WIDTH, HEADS, VOCABULARY, TIME = 6, 384, 6, 8192, 256


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.proj = nn.Linear(WIDTH, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)
        mask = torch.full((TIME, TIME), float("-inf")).triu(1)
        self.register_buffer("mask", mask, persistent=False)

    def attention(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(x).split(WIDTH, dim=2)
        q, k, v = (y.view(b, t, HEADS, c // HEADS).transpose(1, 2)
                   for y in (q, k, v))
        p = q @ k.transpose(-2, -1) / (c // HEADS) ** 0.5
        y = F.softmax(p + self.mask, dim=-1) @ v
        return self.proj(y.transpose(1, 2).reshape(b, t, c))

    def forward(self, x):
        x = x + self.attention(self.norm1(x))
        y = F.gelu(self.up(self.norm2(x)), approximate="tanh")
        return x + self.down(y)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(VOCABULARY, WIDTH)
        self.position = nn.Embedding(TIME, WIDTH)
        self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
        self.norm = nn.LayerNorm(WIDTH)
        nn.init.normal_(self.token.weight, std=0.02)

    def forward(self, ids, targets):
        x = self.token(ids) + self.position.weight[: ids.shape[1]]
        x = self.norm(self.blocks(x))
        logits = x @ self.token.weight.T
        return F.cross_entropy(logits.view(-1, VOCABULARY), targets.reshape(-1))


def main():
    steps, batch = int(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(int(os.environ["OMP_NUM_THREADS"]))
    dist.init_process_group("gloo")
    rank, size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    model = nn.parallel.DistributedDataParallel(Model())
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4, weight_decay=0.01)
    torch.manual_seed(2 + rank)
    for step in range(steps):
        ids = torch.randint(VOCABULARY, (batch, TIME + 1))
        dist.barrier()
        began = time.monotonic()
        opt.zero_grad(set_to_none=True)
        model(ids[:, :-1], ids[:, 1:]).backward()
        opt.step()
        dist.barrier()
        if rank == 0 and step >= 2:
            print(size * batch * TIME / (time.monotonic() - began), flush=True)
    dist.destroy_process_group()


main()
