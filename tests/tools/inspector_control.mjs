// A server whose only tool is listed badly, to see that the inspector would say so.
import { createInterface } from "node:readline";

const tools = [{ name: "vague", description: "Says nothing.", inputSchema: { type: "object", properties: { any: {} } } }];
const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "control", version: "1" },
  }),
  "tools/list": () => ({ tools }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  const answer = answers[method];
  if (id === undefined) continue;
  const outcome = answer ? { result: answer(params) } : { error: { code: -32601, message: method } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...outcome }));
}
