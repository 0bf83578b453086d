// The real server over HTTP, for clients of the TypeScript SDK of the protocol that else speak to it over pipes.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";

export const TOKEN = "a-token-of-the-tests-alone";

/** A server of its own for one token: its address, what a client speaks through, and how to end it. */
export async function served(Transport, binary, args, env, token = TOKEN) {
  const command = ["serve", ...args];
  const server = spawn(binary, command, { env: { ...env, LOCKGATE_TOKEN: token }, stdio: ["ignore", "ignore", "pipe"] });
  const ended = once(server, "exit");
  let url;
  for await (const line of createInterface({ input: server.stderr })) {
    if (line.startsWith("listening on ")) {
      url = new URL(line.split(" ").at(-1));
      break;
    }
  }
  assert.ok(url, "the server does not listen");
  const transport = Transport && new Transport(url, { requestInit: { headers: { Authorization: `Bearer ${token}` } } });
  const end = async () => {
    server.kill();
    assert.equal((await ended)[0], 0, "the server did not end in order");
  };
  return { url, transport, end };
}
