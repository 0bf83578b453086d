// Judges the edits of opencode's own tools with lockgate before they are written, and records them for undo.
// `lockgate init --client opencode --hooks` writes this file; with `--uninstall` it removes it.
import { spawn } from "node:child_process"

const EDIT_TOOLS = new Set(["edit", "write", "multiedit", "patch", "apply_patch"])
// Longer than lockgate's own deadline, in milliseconds.
const TIMEOUT = 30_000

// Sends one event to lockgate; resolves to its answer, or to nothing if it has none.
const ask = (event, cwd, warn) =>
  new Promise((resolve) => {
    const child = spawn("lockgate", ["hook"], { cwd, timeout: TIMEOUT, stdio: ["pipe", "pipe", "pipe"] })
    let output = ""
    let errors = ""
    child.stdout.on("data", (data) => (output += data))
    child.stderr.on("data", (data) => (errors += data))
    child.stdin.on("error", () => {})
    child.on("error", (error) => resolve(void warn(`lockgate did not start: ${error.message}`)))
    child.on("close", () => {
      if (errors) warn(errors.trim())
      try {
        resolve(output.trim() ? JSON.parse(output) : undefined)
      } catch {
        resolve(void warn("lockgate gave no valid answer"))
      }
    })
    child.stdin.end(JSON.stringify(event))
  })

export const Lockgate = async ({ client, directory }) => {
  const warn = (message) => client.app.log({ body: { service: "lockgate", level: "warn", message } }).catch(() => {})
  const event = (name, input, args) => ({
    hook_event_name: name,
    host: "opencode",
    tool: input.tool,
    sessionID: input.sessionID,
    callID: input.callID,
    cwd: directory,
    args,
  })
  return {
    "tool.execute.before": async (input, output) => {
      if (!EDIT_TOOLS.has(input.tool)) return
      const answer = await ask(event("tool.execute.before", input, output.args), directory, warn)
      // The message of the error is what the model reads.
      if (answer?.deny) throw new Error(answer.deny)
      if (answer?.args) Object.assign(output.args, answer.args)
    },
    "tool.execute.after": async (input, output) => {
      if (!EDIT_TOOLS.has(input.tool)) return
      const answer = await ask(event("tool.execute.after", input, input.args), directory, warn)
      if (answer?.context) output.output += `\n${answer.context}`
    },
  }
}
