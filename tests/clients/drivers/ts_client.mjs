// The TypeScript client of the 2.x line. `ts_client.mjs MODE PLAY SERVER...` prints what it received, as one JSON document.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import { received, recorder } from './recorder.mjs';

const [mode, play, command, ...args] = process.argv.slice(2);
const negotiation = mode.startsWith('20') ? { pin: mode } : mode;
const client = new Client({ name: 'ts-client', version: '1.0.0' }, { versionNegotiation: { mode: negotiation } });
await client.connect(new StdioClientTransport({ command, args, env: process.env }));
const { tools } = await client.listTools();
const { default: story } = await import(`./${play}.mjs`);
await story(recorder((params, options) => client.callTool(params, options)));
console.log(JSON.stringify({ tools, calls: received }));
await client.close();
