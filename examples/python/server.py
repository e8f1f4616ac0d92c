"""Two runs on an event loop that goes on meanwhile; one is given up. usage: server.py RECORDING"""

import asyncio
import sys

import diarist


async def main(file: str) -> None:
    pipeline = diarist.Pipeline("open")
    wanted = asyncio.create_task(pipeline.arun(file))
    unwanted = asyncio.create_task(pipeline.arun(file))
    await asyncio.sleep(0.1)
    unwanted.cancel()  # ends the engine's work as well
    print(await wanted)


asyncio.run(main(sys.argv[1]))
