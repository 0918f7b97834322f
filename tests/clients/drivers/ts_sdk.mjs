// The TypeScript SDK of the 1.x line. `ts_sdk.mjs PLAY SERVER...` prints what it received, as one JSON document.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

import { received, recorder } from './recorder.mjs';

const [play, command, ...args] = process.argv.slice(2);
const client = new Client({ name: 'ts-sdk', version: '1.0.0' });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
const { default: story } = await import(`./${play}.mjs`);
await story(recorder((params, options) => client.callTool(params, undefined, options)));
console.log(JSON.stringify({ tools, calls: received }));
await client.close();
