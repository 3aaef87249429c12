"""A training that is killed and goes on: run by test_io_training.py, not a test itself.

    python resumed_training.py PATH STEPS EVERY [generator]

A small model learns for so many steps, and saves itself after every so many of them. What PATH
holds it goes on from. At its end it prints the checksum of everything that a further step would
depend on. It says "step N" after each step, and waits a little, so that it can be killed there.
With "generator", the data's order is drawn from a generator of its own.
"""

import sys
import time
import zlib
from pathlib import Path

import minigrad
from minigrad import nn, optim
from minigrad.data import DataLoader, TensorDataset
from minigrad.io import load_training, save_training
from minigrad.io.tree import pack

PAUSE = 0.01


def main(path: Path, steps: int, every: int, own: bool) -> None:
    minigrad.random.seed(0)
    x = minigrad.randn(50, 6)
    dataset = TensorDataset(x, minigrad.argmax(x, axis=1))
    loader = DataLoader(dataset, 8, shuffle=True, generator=7 if own else None)
    model = nn.Sequential(nn.Linear(6, 16), nn.BatchNorm1d(16), nn.Dropout(0.3), nn.Linear(16, 6))
    optimizer = optim.AdamW(model.parameters(), lr=0.01, amsgrad=True)
    scheduler = optim.lr_scheduler.WarmupCosineLR(optimizer, 5, steps)
    parts = {"model": model, "optimizer": optimizer, "scheduler": scheduler, "loader": loader}
    step, losses = 0, []
    if path.exists():
        values = load_training(path, **parts)
        step, losses = values["step"], values["losses"]
        print(f"from {step}", flush=True)
    while step < steps:
        for inputs, labels in loader:
            loss = nn.functional.cross_entropy(model(inputs), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            scheduler.step()
            step += 1
            losses.append(loss.item())
            if step % every == 0:
                save_training(path, **parts, step=step, losses=losses)
            print(f"step {step}", flush=True)
            time.sleep(PAUSE)
            if step == steps:
                break
    states = {name: part.state_dict() for name, part in parts.items()}
    packed = pack([states, minigrad.random.get_state(), losses])
    print(f"end {zlib.crc32(packed.structure.encode())}")  # which has the checksums of all arrays


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), "generator" in sys.argv[4:])
