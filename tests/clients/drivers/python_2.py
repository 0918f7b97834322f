"""The Python SDK of the 2.x line. `python_2.py MODE SERVER...` prints what it received, as one JSON document."""

import asyncio
import json
import os
import sys

from mcp import Client, StdioServerParameters

import story

mode, program, *arguments = sys.argv[1:]
server = StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
calls = []


def plain(model):
    return model.model_dump(mode="json", by_alias=True, exclude_none=True)


async def main():
    async with Client(server, mode=mode) as client:

        async def call(tool, **given):
            progress = []

            async def heard(value, total, message):
                progress.append(value)

            result = await client.call_tool(tool, given, progress_callback=heard)
            calls.append({"tool": tool, "progress": progress, "result": plain(result)})
            return result.structured_content

        tools = [plain(tool) for tool in (await client.list_tools()).tools]
        await story.play(call)
        print(json.dumps({"tools": tools, "calls": calls}))


asyncio.run(main())
