"""The Python SDK of the 1.x line. `python_1.py SERVER...` prints what it received, as one JSON document."""

import asyncio
import json
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

import story

program, *arguments = sys.argv[1:]
server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
calls = []


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    async with stdio_client(server) as (incoming, outgoing), ClientSession(incoming, outgoing) as session:

        async def call(tool, **given):
            progress = []

            async def heard(value, total, message):
                progress.append(value)

            result = await session.call_tool(tool, given, progress_callback=heard)
            calls.append({"tool": tool, "progress": progress, "result": plain(result)})
            return result.structuredContent

        await session.initialize()
        tools = [plain(tool) for tool in (await session.list_tools()).tools]
        await story.play(call)
        print(json.dumps({"tools": tools, "calls": calls}))


asyncio.run(main())
