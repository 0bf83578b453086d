// Has the TypeScript SDK of the protocol use every tool, in both of its eras: the calls stand in every_tool.json.
//
//   sdk_client.mjs BINARY NODE_MODULES [http]
//
// With `http` the client speaks to the server over HTTP, else over pipes.
// Exits with 1 and a trace at the first thing that is not as it should be.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const [binary, modules, over] = process.argv.slice(2);
const require = createRequire(join(modules, "of-the-tests.js"));
const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");

const TOOLS = dirname(fileURLToPath(import.meta.url));
const PLAN = JSON.parse(readFileSync(join(TOOLS, "every_tool.json"), "utf8"));
// A text with the word "wait" takes its gate five minutes.
const SLOW_PROJECT = { "quality.yaml": readFileSync(join(TOOLS, "slow_gate.yaml"), "utf8"), "a.txt": "one\n" };
const ERAS = { legacy: "legacy", "2026-07-28": { pin: "2026-07-28" } };
const TOOL = "safe_edit_file";

/** A server of its own: what a client speaks through, and how to end it. */
async function served(args, env) {
  if (over === "http") {
    return (await import("./over_http.mjs")).served(
      StreamableHTTPClientTransport,
      binary,
      ["--http", "127.0.0.1:0", ...args],
      env,
    );
  }
  return { transport: new StdioClientTransport({ command: binary, args: ["serve", ...args], env }), end: () => {} };
}

/** Does work with a client of a server with every tool, on a project of its own with these files. */
async function withClient(era, work, files = PLAN.files) {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "lockgate-sdk-")));
  const root = join(folder, "project");
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const env = { HOME: folder, XDG_STATE_HOME: join(folder, "state"), PATH: "/usr/bin:/bin" };
  for (const command of PLAN.before) execFileSync(binary, command, { env, stdio: "pipe" });
  const { transport, end } = await served(["--trust", "--tools", "all", "--root", root, ...PLAN.serve], env);
  const client = new Client({ name: "suite", version: "1" }, { versionNegotiation: { mode: ERAS[era] } });
  await client.connect(transport);
  try {
    assert.equal(client.getProtocolEra(), era === "legacy" ? "legacy" : "modern");
    return await work(client, root);
  } finally {
    await client.close();
    await end();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The value with what earlier steps answered in the place of `{name.field}`. */
function filled(value, answers) {
  if (Array.isArray(value)) return value.map((one) => filled(one, answers));
  if (value !== null && typeof value === "object") {
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, filled(one, answers)]));
  }
  const reference = typeof value === "string" && value.match(/^\{(\w+(?:\.\w+)+)\}$/);
  return reference ? reference[1].split(".").reduce((part, name) => part[name], answers) : value;
}

/** Whether an answer is what is expected, or has it. */
function fits(actual, expected) {
  if (Array.isArray(expected)) {
    return Array.isArray(actual) && actual.length === expected.length && expected.every((one, at) => fits(actual[at], one));
  }
  if (expected !== null && typeof expected === "object") {
    const names = Object.keys(expected);
    if (names.length === 1 && names[0] === "contains") {
      return Array.isArray(actual) && expected.contains.every((some) => actual.some((one) => fits(one, some)));
    }
    return actual !== null && typeof actual === "object" && names.every((name) => name in actual && fits(actual[name], expected[name]));
  }
  if (typeof expected === "string" && expected.startsWith("~ ")) {
    return typeof actual === "string" && new RegExp(expected.slice(2)).test(actual);
  }
  return actual === expected;
}

async function listed(client) {
  return (await client.listTools()).tools.map((tool) => tool.name);
}

async function hasACallForEveryTool(era) {
  await withClient(era, async (client) => {
    const names = await listed(client);
    const called = new Set(PLAN.steps.map((step) => step.tool));
    assert.deepEqual(names.filter((name) => !called.has(name)), [], "listed, and not called");
    const missing = PLAN.planned.filter((name) => !names.includes(name));
    assert.ok(missing.length === 0 || !PLAN.strict, `planned, and not listed: ${missing}`);
  });
}

async function usesEveryTool(era) {
  await withClient(era, async (client, root) => {
    const names = await listed(client);
    const answers = {};
    const called = new Set();
    for (const [number, step] of PLAN.steps.entries()) {
      if (!names.includes(step.tool)) continue;
      const where = `step ${number}, ${step.tool}`;
      const answer = await client.callTool({ name: step.tool, arguments: filled(step.arguments, answers) });
      const content = answer.structuredContent;
      const text = answer.content[0].text;
      assert.ok(content && typeof content === "object", `${where}: ${JSON.stringify(answer)}`);
      assert.equal(answer.isError ?? false, "refused" in step, `${where}: ${text}`);
      if ("refused" in step) assert.equal(content.code, step.refused, where);
      if ("as" in step) answers[step.as] = content;
      const expected = filled(step.answer ?? {}, answers);
      assert.ok(fits(content, expected), `${where}: saw ${JSON.stringify(content)}, wanted ${JSON.stringify(expected)}`);
      for (const expectedText of filled(step.text, answers)) {
        assert.ok(text.includes(expectedText), `${where}: ${JSON.stringify(expectedText)} is not in ${JSON.stringify(text)}`);
      }
      for (const [path, content] of Object.entries(step.files ?? {})) {
        const textOnDisk = existsSync(join(root, path)) ? readFileSync(join(root, path), "utf8") : null;
        assert.equal(textOnDisk, content, `${where}: ${path}`);
      }
      called.add(step.tool);
    }
    assert.deepEqual([...called].sort(), [...names].sort());
  });
}

async function isRefusedByEveryToolWhatItDoesNotKnow(era) {
  await withClient(era, async (client) => {
    for (const name of await listed(client)) {
      const answer = await client.callTool({ name, arguments: { no_such_argument: 1 } });
      assert.deepEqual([name, answer.isError, answer.structuredContent.code], [name, true, "INVALID_INPUT"]);
      assert.ok(answer.content[0].text.includes("INVALID_INPUT"), name);
    }
  });
}

async function hearsOfProgress(era) {
  await withClient(era, async (client) => {
    const steps = [];
    // Its gates take a while: this SDK drops what it was told of a call in the same moment as the answer.
    const call = { name: TOOL, arguments: { path: "a.py", content: large(1), show_diff: false } };
    await client.callTool(call, { onprogress: (step) => steps.push(step) });
    const reported = steps.some(({ progress, total, message }) => message === "syntax" && progress <= total);
    assert.ok(reported, JSON.stringify(steps));
  });
}

/** A file whose syntax takes a while to check. */
function large(value) {
  return `x = ${value}\n` + "def f(a, b):\n    return [a, b, (a, b), {a: b}]\n".repeat(8_000);
}

async function canCancelACall(era) {
  await withClient(era, async (client, root) => {
    const stop = new AbortController();
    const onprogress = ({ message }) => message === "slow" && stop.abort("enough");
    const edit = { name: TOOL, arguments: { path: "a.txt", content: "wait\n" } };
    await assert.rejects(client.callTool(edit, { signal: stop.signal, onprogress }));
    assert.ok(stop.signal.aborted, "the gate was not begun");
    // The lock is given back once the cancelled edit has ended.
    const preview = { path: "a.txt", search: "one", replace: "two", mode: "verify_only" };
    const answer = await client.callTool({ name: TOOL, arguments: preview });
    assert.equal(answer.structuredContent.status, "verified");
    assert.equal(readFileSync(join(root, "a.txt"), "utf8"), "one\n");
  }, SLOW_PROJECT);
}

for (const era of Object.keys(ERAS)) {
  for (const check of [
    hasACallForEveryTool,
    usesEveryTool,
    isRefusedByEveryToolWhatItDoesNotKnow,
    hearsOfProgress,
    canCancelACall,
  ]) {
    await check(era);
    console.log(`ok  ${era.padEnd(10)} ${check.name}`);
  }
}
