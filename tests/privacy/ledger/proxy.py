"""``python -m tests.privacy.ledger.proxy PORT TARGET MOST SEED``: a network that breaks.

Each connection is forwarded until a number of bytes, drawn up to MOST, has passed in either
direction; then it is reset. MOST = 0: never.
"""

import asyncio
import random
import socket
import struct
import sys

RESET = struct.pack("ii", 1, 0)


async def main(port: int, target: int, most: int, seed: int) -> None:
    draws = random.Random(seed)

    async def forward(
        reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: list[int]
    ) -> None:
        while left[0] > 0 and (chunk := await reader.read(4096)):
            writer.write(chunk[: left[0]])
            left[0] -= len(chunk)
            await writer.drain()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        left = [draws.randint(1, most) if most else 1 << 60]
        try:
            there, back = await asyncio.open_connection("127.0.0.1", target)
        except OSError:
            writer.close()
            return
        ways = [
            asyncio.ensure_future(forward(reader, back, left)),
            asyncio.ensure_future(forward(there, writer, left)),
        ]
        await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.gather(*ways, return_exceptions=True)
        for end in (writer, back):
            end.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            end.close()

    async with await asyncio.start_server(serve, "127.0.0.1", port) as server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
