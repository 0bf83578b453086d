// Runs the scenarios of the protocol's conformance suite that a server without the suite's own test tools can be held against.
//
//   conformance.mjs BINARY NODE_MODULES
//
// The suite cannot show a token, so a proxy of this script's own adds it to each request. Every scenario that the suite has for
// a revision is either run here or stands below with the reason why not, so that new ones are noticed. Exits with 1 when a
// check fails that is not expected to, or one does not fail that is.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { TOKEN, served } from "./over_http.mjs";

const [binary, modules] = process.argv.slice(2);
const SUITE = join(modules, "@modelcontextprotocol/conformance/dist/index.js");
const REVISIONS = ["2025-11-25", "2026-07-28"];
const run = promisify(execFile);

/** What is run: each scenario with the checks that are expected to fail. */
const RUN = {
  "server-initialize": [],
  "server-session-lifecycle": [],
  ping: [],
  "tools-list": [],
  "server-sse-multiple-streams": [],
  "dns-rebinding-protection": [],
  caching: [],
  "http-header-validation": [],
  "input-required-result-unsupported-methods": [],
  "completion-complete": [],
  "prompts-list": [],
  "resources-list": [],
  "sep-2164-resource-not-found": [],
  "server-stateless": [
    // Whoever asks for prompts, which lockgate does not offer, is told that there are none; other scenarios want that.
    "sep-2575-server-declares-prompts-in-discover",
    // These want the tool `test_missing_capability`.
    "sep-2575-server-rejects-undeclared-capability",
    "sep-2575-missing-capability-http-400",
    // These want the tools `test_streaming_elicitation` and `test_logging_tool`.
    "sep-2575-http-server-no-independent-requests-on-stream",
    "sep-2575-server-no-log-without-loglevel",
  ],
};

/** What is not run, and why. */
const LEFT = [
  [/^tools-call-/, "calls a tool of the suite's own"],
  [/^json-schema-2020-12$/, "looks at the schema of a tool of the suite's own"],
  [/^http-custom-header-server-validation$/, "calls a tool of the suite's own"],
  [/^elicitation-/, "calls a tool of the suite's own"],
  [/^input-required-result-/, "calls a tool of the suite's own"],
  [/^server-sse-polling$/, "calls a tool of the suite's own"],
  [/^logging-/, "lockgate does not offer logging"],
  [/^resources-/, "lockgate does not offer resources"],
  [/^prompts-/, "lockgate does not offer prompts"],
];

/** The scenarios that the suite has for a revision. */
async function scenarios(revision) {
  const { stdout } = await run(process.execPath, [SUITE, "list", "--server"]);
  const lines = [...stdout.matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)];
  return lines.filter(([, , revisions]) => revisions.split(",").includes(revision)).map(([, name]) => name);
}

/** A way to a server on which every request shows its token; `target` gives the server's address. */
async function proxy(target) {
  const way = http.createServer((request, response) => {
    const headers = [...request.rawHeaders, "Authorization", `Bearer ${TOKEN}`];
    const { hostname: host, port } = target();
    const onward = http.request({ host, port, method: request.method, path: request.url, headers }, (answer) => {
      response.writeHead(answer.statusCode, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise((ready) => way.listen(0, "localhost", ready));
  return way;
}

/** Runs one scenario, and gives its failed checks. */
async function failed(url, scenario, revision, folder) {
  const out = join(folder, `${revision}-${scenario}`);
  const words = ["server", "--url", url, "--scenario", scenario, "--spec-version", revision, "-o", out];
  // It exits with 1 where a check fails; what it wrote says more.
  await run(process.execPath, [SUITE, ...words]).catch(() => {});
  const found = readdirSync(out, { recursive: true }).filter((name) => name.endsWith("checks.json"));
  assert.equal(found.length, 1, `${scenario} wrote no checks`);
  const checks = JSON.parse(readFileSync(join(out, found[0]), "utf8"));
  assert.ok(checks.some(({ status }) => status === "SUCCESS"), `${scenario} checked nothing`);
  return checks.filter(({ status }) => status === "FAILURE").map(({ id, errorMessage }) => ({ id, errorMessage }));
}

const folder = mkdtempSync(join(tmpdir(), "lockgate-conformance-"));
const root = join(folder, "project");
mkdirSync(root);
const env = { HOME: folder, XDG_STATE_HOME: join(folder, "state"), PATH: "/usr/bin:/bin" };
let server;
const way = await proxy(() => server.url);
const url = `http://localhost:${way.address().port}/mcp`;
server = await served(null, binary, ["--http", "127.0.0.1:0", "--root", root], env);
const wrong = [];
try {
  for (const revision of REVISIONS) {
    for (const scenario of await scenarios(revision)) {
      const reason = LEFT.find(([name]) => name.test(scenario))?.[1];
      if (!(scenario in RUN)) {
        if (reason) console.log(`left ${revision} ${scenario}: ${reason}`);
        else wrong.push(`${revision} ${scenario}: neither run nor left out for a reason`);
        continue;
      }
      const failures = await failed(url, scenario, revision, folder);
      const unexpected = failures.filter(({ id }) => !RUN[scenario].includes(id));
      const unfailing = RUN[scenario].filter((id) => !failures.some((failure) => failure.id === id));
      unexpected.forEach(({ id, errorMessage }) => wrong.push(`${revision} ${scenario}: ${id}: ${errorMessage}`));
      unfailing.forEach((id) => wrong.push(`${revision} ${scenario}: ${id} was expected to fail`));
      if (unexpected.length + unfailing.length === 0) console.log(`ok   ${revision} ${scenario}`);
    }
  }
} finally {
  way.close();
  way.closeAllConnections();
  await server.end();
  rmSync(folder, { recursive: true, force: true });
}
assert.deepEqual(wrong, []);
