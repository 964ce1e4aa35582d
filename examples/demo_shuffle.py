"""What ``make demo-shuffle`` shows: people, a shuffler and a server that only exchange bytes.

Every party is a process of its own, and talks HTTP over a local socket. Workers play many clients
each. The shuffler hears the workers, and the server hears the shuffler only.

A sum is split into shares (almost a curator's error); then a mean is estimated in two rounds of
single messages. One worker is killed half way and one is too slow, if asked for.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import Request, urlopen

import numpy as np

import modicum
from modicum import local, shuffle

RANGE = (0.0, 1.0)
WIDE = (-1e4, 1e4)
EACH = 500  # clients whose messages a worker sends together
HOST = "127.0.0.1"


def ages(clients: int, first: int) -> np.ndarray:
    """Synthetic ages, (age/130)² as in the literature on shuffled sums."""
    rng = np.random.default_rng((2021, first))
    return (np.clip(rng.gamma(9.5, 4.1, clients), 17, 90) / 130) ** 2


def ask(port: int, path: str, body: bytes | None = None) -> bytes:
    with urlopen(Request(f"http://{HOST}:{port}{path}", data=body), timeout=60) as answer:
        return answer.read()


def serve(routes: dict[str, Any], told: Any) -> None:
    """Answer requests by the functions of ``routes``, one at a time; tell the port."""
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            known = routes.get(self.path)
            text = None
            with lock:
                try:
                    text = known(body) if known else None
                except modicum.ModicumError:
                    text = None
            self.send_response(200 if text is not None else 409)
            self.send_header("Content-Length", str(len(text or b"")))
            self.end_headers()
            self.wfile.write(text or b"")

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            """Keep no record of who sent what."""

    server = ThreadingHTTPServer((HOST, 0), Handler)
    told.put(server.server_address[1])
    server.serve_forever()


def run_server(split: Any, text: str, told: Any) -> None:
    """The analyst's server: gets shuffled frames, publishes announcements and estimates."""
    rounds = local.Server(local.from_json(text))
    found: dict[str, Any] = {"accepted": 0}

    def shares(body: bytes) -> bytes:
        answer = shuffle.analysed(split, body)
        found["sum"] = {"mean": answer.mean, "clients": answer.clients, "bytes": len(body)}
        return b""

    def frames(body: bytes) -> bytes:
        found["accepted"] += rounds.aggregate([body]).accepted
        rounds.close()
        if rounds.estimate is not None:
            mean = rounds.estimate
            found["mean"] = {"mean": mean.value, "standard_error": mean.standard_error}
        return b""

    def announcement(_: bytes) -> bytes:
        return rounds.announcement

    def estimates(_: bytes) -> bytes:
        return json.dumps(found).encode()

    serve(
        {
            "/shares": shares,
            "/frames": frames,
            "/announcement": announcement,
            "/estimates": estimates,
        },
        told,
    )


def run_shuffler(split: Any, sizes: list[int], port: int, told: Any) -> None:
    """Hear the workers; on ``/release``, permute and pass on to the server."""
    held = {"/sum": split.shuffler()}
    for number, least in enumerate(sizes, 1):
        held[f"/round{number}"] = shuffle.Shuffler(size=22, least=least)

    def adder(path: str) -> Any:
        return lambda body: b"taken" if held[path].add(body) else None

    def releaser(path: str) -> Any:
        def release(_: bytes) -> bytes:
            people = held[path].people
            ask(port, "/shares" if path == "/sum" else "/frames", held[path].release())
            return str(people).encode()

        return release

    def counter(path: str) -> Any:
        return lambda _: str(held[path].people).encode()

    routes = {path: adder(path) for path in held}
    routes |= {f"{path}/people": counter(path) for path in held}
    serve(routes | {f"{path}/release": releaser(path) for path in held}, told)


def run_worker(
    split: Any, text: str, clients: int, first: int, ports: tuple[int, int], pause: float
) -> None:
    """Play clients, in batches: their shares, then their messages of both rounds."""
    server, shuffler = ports
    values = ages(clients, first)
    parts = [slice(i, min(i + EACH, clients)) for i in range(0, clients, EACH)]
    for part in parts:
        time.sleep(pause)
        answers = shuffle.SumBatch(split, part.stop - part.start).respond(values[part])
        ask(shuffler, "/sum", answers)
    protocol = local.from_json(text)
    batches = [local.Batch(protocol, part.stop - part.start) for part in parts]
    for number in (1, 2):
        said = ask(server, "/announcement")
        while json.loads(said)["round"] < number:
            time.sleep(0.1)
            said = ask(server, "/announcement")
        for part, batch in zip(parts, batches, strict=True):
            time.sleep(pause)
            answers = batch.respond(values[part], said)
            if answers:
                ask(shuffler, f"/round{number}", answers)


def released(shuffler: int, path: str, *, least: int, quiet: float, patience: float) -> int:
    """Release when enough people were heard and nothing came for a while, or time is up."""
    begun = changed = time.monotonic()
    count = 0
    while time.monotonic() - begun < patience:
        time.sleep(0.2)
        now = int(ask(shuffler, f"{path}/people"))
        if now != count:
            count, changed = now, time.monotonic()
        elif count >= least and time.monotonic() - changed > quiet:
            break
    return int(ask(shuffler, f"{path}/release"))


def demo(clients: int, workers: int, *, kill: bool, slow: bool, patience: float) -> dict[str, Any]:
    """Run all processes, and return the estimates beside the truth."""
    context = mp.get_context("spawn")
    honest = clients * 4 // 10 if kill or slow else clients * 9 // 10
    split = shuffle.split_sum(within=RANGE, epsilon=1, clients=clients, honest=honest)
    protocol = local.mean(within=WIDE, epsilon=4)
    text, told = protocol.to_json(), context.Queue()
    shares = [honest * share // 1100 for share in protocol.shares]
    started = [context.Process(target=run_server, args=(split, text, told), daemon=True)]
    started[0].start()
    server = told.get(timeout=60)
    started.append(
        context.Process(target=run_shuffler, args=(split, shares, server, told), daemon=True)
    )
    started[1].start()
    shuffler = told.get(timeout=60)
    played = [clients // workers + (i < clients % workers) for i in range(workers)]
    crew = [
        context.Process(
            target=run_worker,
            args=(split, text, n, i, (server, shuffler), patience / 5 if slow and i == 0 else 0.0),
            daemon=True,
        )
        for i, n in enumerate(played)
    ]
    for worker in crew:
        worker.start()
    if kill:
        while int(ask(shuffler, "/sum/people")) < clients // 4:
            time.sleep(0.05)
        crew[-1].kill()
    heard = {
        path: released(shuffler, path, least=least, quiet=patience / 10, patience=patience)
        for path, least in zip(("/sum", "/round1", "/round2"), (honest, *shares), strict=True)
    }
    for process in (*crew, *started[1:]):
        process.terminate()
    found = json.loads(ask(server, "/estimates"))
    started[0].terminate()
    truth = float(np.concatenate([ages(n, i) for i, n in enumerate(played)]).mean())
    expected = {"error": split.error / clients, "shares": split.shares}
    return found | {"truth": truth, "heard": heard, "expected": expected}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kill", action="store_true", help="kill one worker")
    parser.add_argument("--slow", action="store_true", help="one worker is too slow")
    parser.add_argument("--patience", type=float, default=20.0, help="most seconds for a round")
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = demo(args.clients, args.workers, kill=args.kill, slow=args.slow, patience=args.patience)
    if args.json:
        print(json.dumps(found))
        return
    split, mean = found["sum"], found["mean"]
    print(f"true mean of {args.clients:,} people      {found['truth']:.6f}")
    print(f"shares of {split['clients']:,} people         {split['mean']:.6f}   ε = 1")
    print(f"single messages, two rounds  {mean['mean']:.6f}   ε = 4 for one message")
    print(f"{found['expected']['shares']} shares a person, {split['bytes'] / 1e6:.1f} MB in all")


if __name__ == "__main__":
    main()
