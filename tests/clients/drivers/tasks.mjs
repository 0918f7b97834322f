// The tasks extension, with its own TypeScript client on top of the 2.x one. `tasks.mjs SERVER...` waits once to the end
// and once until it changes its mind, and prints what came of each, as one JSON document.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { createTaskSessionFromClient, resultFromTaskOutcome } from '@modelcontextprotocol/ext-tasks/client';

const [command, ...args] = process.argv.slice(2);
const protocolVersion = '2026-07-28';
const clientInfo = { name: 'tasks', version: '1.0.0' };
const client = new Client(clientInfo, { versionNegotiation: { mode: { pin: protocolVersion } } });
const transport = new StdioClientTransport({ command, args, env: process.env });
await client.connect(transport);
await client.listTools();

// The client's own codecs refuse what the extension sends: its requests go past them.
const pending = new Map();
const others = transport.onmessage;
transport.onmessage = (message, extra) => (pending.get(message.id) ?? others)(message, extra);
const rawDispatch = request =>
  new Promise(resolve => {
    const id = `raw-${pending.size}`;
    const answer = ({ result, error }) => resolve(error ? { kind: 'error', error } : { kind: 'result', result });
    pending.set(id, answer);
    transport.send({ ...request, jsonrpc: '2.0', id });
  });
const session = createTaskSessionFromClient(client, {
  endpointId: 'delegator',
  rawDispatch,
  v2RequestFraming: { protocolVersion, clientInfo, clientCapabilities: {} },
});

async function run(task) {
  const { structuredContent } = await client.callTool({
    name: 'delegate_run',
    arguments: { task, options: { agent: 'replay' } },
  });
  return structuredContent.task_id;
}

const finished = await run('fix-test --speed 2');
const waited = await session.callTool('delegate_wait', { task_id: finished });
const { outcome, lastTask } = await waited.settle();
const result = resultFromTaskOutcome(outcome);

const left = await run('fix-test --speed 0.01');
const given_up = await session.callTool('delegate_wait', { task_id: left });
await given_up.cancel();
const status = await client.callTool({ name: 'delegate_status', arguments: { task_id: left } });
await client.callTool({ name: 'delegate_cancel', arguments: { task_id: left } });

console.log(
  JSON.stringify({
    finished: { task_id: finished, last: lastTask, result },
    left: { task_id: left, status: status.structuredContent },
  }),
);
await session.close();
await client.close();
