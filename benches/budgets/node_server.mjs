// A minimal server with the official SDK, for comparison.
import { pathToFileURL } from 'node:url';

const sdk = (file) => import(pathToFileURL(`${process.argv[2]}/dist/esm/server/${file}.js`));
const { McpServer } = await sdk('mcp');
const { StdioServerTransport } = await sdk('stdio');

const server = new McpServer({ name: 'reference', version: '1' });
server.registerTool('hello', { description: 'Says hello.' }, async () => ({ content: [{ type: 'text', text: 'hello' }] }));
await server.connect(new StdioServerTransport());
