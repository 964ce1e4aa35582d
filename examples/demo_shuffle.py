"""What ``make demo-shuffle`` shows: people, a shuffler and a server that only exchange bytes.

Every party is a process of its own, and talks HTTP over a local socket. Workers play many clients
each. The shuffler hears the workers, and the server hears the shuffler only.

There are three sessions: a sum in shares (almost a curator's error), a mean from single messages in
two rounds, and a mean vector in three rounds, the last one in shares. In each, one worker is killed
half way and one is too slow, if asked for.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing as mp
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import numpy as np

import modicum
from modicum import local, shuffle
from modicum.protocols.local.wire import head

EACH = 500  # clients whose messages a worker sends together
HOST = "127.0.0.1"


def ages(clients: int, first: int) -> np.ndarray:
    """Synthetic ages, (age/130)² as in the literature on shuffled sums."""
    rng = np.random.default_rng((2021, first))
    return (np.clip(rng.gamma(9.5, 4.1, clients), 17, 90) / 130) ** 2


def places(clients: int, first: int) -> np.ndarray:
    """Where people live: kilometres east and north of somewhere."""
    rng = np.random.default_rng((2022, first))
    return rng.normal((31.0, -12.0), (4.0, 2.0), (clients, 2))


class SumServer:
    """The only round of a sum."""

    announcement, round = b"", 1

    def __init__(self, protocol: shuffle.Sum) -> None:
        self.protocol, self.estimate = protocol, None

    def take(self, released: bytes) -> int:
        self.estimate = shuffle.analysed(self.protocol, released)
        return self.estimate.clients

    def found(self) -> dict[str, Any]:
        return {"value": [self.estimate.mean]}


class MeanServer(local.Server):
    """A round ends with what the shuffler released."""

    def take(self, released: bytes) -> int:
        accepted = self.aggregate([released]).accepted
        self.close()
        return accepted

    def found(self) -> dict[str, Any]:
        mean = self.estimate
        return {"value": [mean.value], "standard_error": mean.standard_error}


class VectorServer(shuffle.VectorServer):
    def take(self, released: bytes) -> int:
        return self.aggregate(released).accepted

    def found(self) -> dict[str, Any]:
        mean = self.estimate
        return {"value": mean.values.tolist(), "standard_error": mean.standard_error}


class SumBatch(shuffle.SumBatch):
    def respond(self, values: np.ndarray, announcement: bytes) -> bytes:
        assert not announcement
        return super().respond(values)


@dataclass(frozen=True)
class Kind:
    """How the parties of a session are made from the text of its protocol."""

    data: Callable[[int, int], np.ndarray]
    read: Callable[[str], Any]
    server: Callable[[Any], Any]
    batch: Callable[[Any, int], Any]
    shuffler: Callable[[Any, int, int], shuffle.Shuffler]
    rounds: int


KINDS = {
    "sum": Kind(
        ages, shuffle.Sum.from_json, SumServer, SumBatch, lambda p, number, least: p.shuffler(), 1
    ),
    "mean": Kind(
        ages,
        local.from_json,
        MeanServer,
        local.Batch,
        lambda p, number, least: shuffle.Shuffler(
            size=22, least=least, heads=[head(p.tag, number)]
        ),
        2,
    ),
    "vector": Kind(
        places,
        shuffle.MeanVector.from_json,
        VectorServer,
        shuffle.VectorBatch,
        lambda p, number, least: p.shuffler(number),
        3,
    ),
}


def ask(port: int, path: str, body: bytes | None = None) -> bytes:
    with urlopen(Request(f"http://{HOST}:{port}{path}", data=body), timeout=60) as answer:
        return answer.read()


class Quiet(ThreadingHTTPServer):
    """Says nothing about clients that went away: their addresses are theirs."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass


def serve(routes: dict[str, Callable[[bytes], bytes]], told: Any) -> None:
    """Answer queries by the functions of ``routes``, one at a time; tell the port."""
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

    server = Quiet((HOST, 0), Handler)
    told.put(server.server_address[1])
    server.serve_forever()


def run_server(kind: str, text: str, key: str, told: Any) -> None:
    """The analyst's server: gets shuffled frames, publishes announcements and the estimate.

    Workers know its port; only the shuffler knows the key without which nothing is taken.
    """
    server = KINDS[kind].server(KINDS[kind].read(text))
    counts: list[int] = []
    size = 0

    def frames(body: bytes) -> bytes:
        nonlocal size
        counts.append(server.take(body))
        size += len(body)
        return b""

    def state(_: bytes) -> bytes:
        """The round, 0 after the last."""
        return str(server.round if server.estimate is None else 0).encode()

    def estimate(_: bytes) -> bytes:
        return json.dumps(server.found() | {"accepted": counts, "bytes": size}).encode()

    serve(
        {
            f"/frames/{key}": frames,
            "/state": state,
            "/announcement": lambda _: server.announcement,
            "/estimate": estimate,
        },
        told,
    )


def run_shuffler(kind: str, text: str, least: list[int], port: int, key: str, told: Any) -> None:
    """Hear the workers; on ``/release`` with the key, permute and pass on to the server, once."""
    made = KINDS[kind]
    protocol = made.read(text)
    held = {f"/round{i}": made.shuffler(protocol, i, n) for i, n in enumerate(least, 1)}
    routes: dict[str, Callable[[bytes], bytes]] = {}

    def heard(path: str) -> Callable[[bytes], Any]:
        return lambda body: b"taken" if held[path].add(body) else None

    def release(path: str) -> Callable[[bytes], bytes]:
        def released(_: bytes) -> bytes:
            frames = held[path].release()
            del routes[path]  # who comes now is too late
            ask(port, f"/frames/{key}", frames)
            return b""

        return released

    def people(path: str) -> Callable[[bytes], bytes]:
        return lambda _: str(held[path].people).encode()

    for path in held:
        routes |= {path: heard(path), f"{path}/release/{key}": release(path)}
        routes[f"{path}/people"] = people(path)
    serve(routes, told)


def run_worker(
    kind: str, text: str, clients: int, first: int, ports: tuple[int, int], pause: float
) -> None:
    """Play clients, in batches, round by round; what comes too late is dropped."""
    server, shuffler = ports
    made = KINDS[kind]
    protocol, values = made.read(text), made.data(clients, first)
    parts = [slice(i, min(i + EACH, clients)) for i in range(0, clients, EACH)]
    batches = [made.batch(protocol, part.stop - part.start) for part in parts]
    answered = 0
    while number := int(ask(server, "/state")):
        if number == answered:
            time.sleep(0.05)
            continue
        answered, said = number, ask(server, "/announcement")
        for part, batch in zip(parts, batches, strict=True):
            time.sleep(pause)
            answers = batch.respond(values[part], said)
            try:
                if answers:
                    ask(shuffler, f"/round{number}", answers)
            except HTTPError:
                break


def released(
    shuffler: int, path: str, key: str, *, least: int, most: int, quiet: float, patience: float
) -> int:
    """Release if all were heard, or enough and nobody for a while, or enough and time is up."""
    begun = changed = time.monotonic()
    count = 0
    while count < most and (count < least or time.monotonic() - begun < patience):
        if time.monotonic() - begun > 10 * patience:
            raise SystemExit(f"only {count} people were heard in time, and {least} are needed")
        time.sleep(0.1)
        now = int(ask(shuffler, f"{path}/people"))
        if now != count:
            count, changed = now, time.monotonic()
        elif count >= least and time.monotonic() - changed > quiet:
            break
    ask(shuffler, f"{path}/release/{key}")
    return count


@dataclass(frozen=True)
class Play:
    """How many people and processes play a session, and what happens to them."""

    clients: int
    workers: int
    kill: bool
    slow: bool
    patience: float

    @property
    def honest(self) -> int:
        return self.clients * (4 if self.kill or self.slow else 9) // 10

    def session(self, kind: str, protocol: Any, least: list[int]) -> dict[str, Any]:
        """Start all processes of a session, and return the estimate beside the truth."""
        begun = time.monotonic()
        context = mp.get_context("spawn")
        text, told, key = protocol.to_json(), context.Queue(), secrets.token_hex(16)
        started = [context.Process(target=run_server, args=(kind, text, key, told), daemon=True)]
        started[0].start()
        server = told.get(timeout=60)
        started.append(
            context.Process(
                target=run_shuffler, args=(kind, text, least, server, key, told), daemon=True
            )
        )
        started[1].start()
        shuffler = told.get(timeout=60)
        played = [
            self.clients // self.workers + (i < self.clients % self.workers)
            for i in range(self.workers)
        ]
        late = self.patience / 5 if self.slow else 0.0
        crew = [
            context.Process(
                target=run_worker,
                args=(kind, text, n, i, (server, shuffler), 0.0 if i else late),
                daemon=True,
            )
            for i, n in enumerate(played)
        ]
        for worker in crew:
            worker.start()
        if self.kill:
            while int(ask(shuffler, "/round1/people")) < least[0] // 2:
                time.sleep(0.02)
            crew[-1].kill()
        single = kind == "mean"  # every client answers one of the rounds, and nobody knows which
        for number, enough in enumerate(least, 1):
            released(
                shuffler,
                f"/round{number}",
                key,
                least=enough,
                most=self.clients + 1 if single else self.clients,
                quiet=self.patience / 10,
                patience=self.patience,
            )
        found = json.loads(ask(server, "/estimate"))
        for process in (*crew, *started):
            process.terminate()
        data = np.concatenate([KINDS[kind].data(n, i) for i, n in enumerate(played)])
        truth = np.atleast_1d(data.mean(axis=0)).tolist()
        return found | {"truth": truth, "seconds": time.monotonic() - begun}

    def demo(self) -> dict[str, Any]:
        """Run the three sessions."""
        clients, honest = self.clients, self.honest
        split = shuffle.split_sum(within=(0, 1), epsilon=1, clients=clients, honest=honest)
        single = local.mean(within=(-1e4, 1e4), epsilon=4)
        plane = shuffle.mean_vector(
            dimension=2, radius=20_000, epsilon=2, delta="1e-8", clients=clients, honest=honest
        )
        found = {
            "sum": self.session("sum", split, [honest]),
            "mean": self.session("mean", single, [honest * x // 1100 for x in single.shares]),
            "vector": self.session("vector", plane, [honest] * 3),
        }
        found["sum"] |= {"standard_error": split.error / clients, "messages": [split.shares]}
        found["mean"]["messages"] = [1]
        found["vector"]["messages"] = plane.messages
        return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kill", action="store_true", help="kill one worker of each session")
    parser.add_argument("--slow", action="store_true", help="one worker is too slow")
    parser.add_argument(
        "--patience", type=float, default=10.0, help="seconds for a round with enough people"
    )
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    play = Play(args.clients, args.workers, args.kill, args.slow, args.patience)
    found = play.demo()
    if args.json:
        print(json.dumps(found))
        return
    costs = {
        "sum": "a sum in shares, ε = 1",
        "mean": "a mean from single messages, ε = 4 for each",
        "vector": "a mean vector, ε = 2, δ = 1e-8",
    }
    print(f"{args.clients:,} people, {args.workers} workers")
    for kind, cost in costs.items():
        one = found[kind]
        print(f"\n{cost}")
        for name in ("truth", "value"):
            print(f"  {name:9}" + "".join(f"{x:12.6f}" for x in one[name]))
        beside = "" if kind == "sum" else ", without the effect of clipping to drawn bounds"
        print(f"  standard error {one['standard_error']:.2g}{beside}")
        print(f"  people heard in each round   {one['accepted']}")
        print(f"  messages of a person         {list(one['messages'])}")
        print(f"  {one['bytes'] / 1e6:.1f} MB reached the server, {one['seconds']:.0f} s")


if __name__ == "__main__":
    main()
