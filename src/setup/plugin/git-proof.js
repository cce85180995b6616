// git-proof: tells git-proof what happens in opencode. `git proof init --agent opencode` writes this file and takes it out.
import { spawnSync } from "node:child_process"

const versions = new Map()
const texts = new Map()
const shells = new Map()

function program() {
  const found = spawnSync("sh", ["-c", 'command -v git-proof || cat "$(git rev-parse --git-common-dir)/proof/program"'], { encoding: "utf8" })
  return found.status === 0 ? found.stdout.trim() : ""
}

export const GitProof = async ({ directory }) => {
  const binary = program()
  if (!binary) return {}
  const send = (name, session, more) => {
    const input = { hook_event_name: name, session_id: session, cwd: directory, ...more }
    const environment = { ...process.env, GIT_PROOF_OPENCODE_VERSION: versions.get(session) ?? "" }
    const ran = spawnSync(binary, ["hook", "opencode"], {
      input: JSON.stringify(input), cwd: directory, env: environment, encoding: "utf8", timeout: 30000,
    })
    try {
      return JSON.parse(ran.stdout)
    } catch {
      return undefined
    }
  }
  const told = new Map()
  const begun = (session) => {
    if (!session || told.has(session)) return
    told.set(session, send("SessionStart", session, {})?.additionalContext ?? "")
  }
  const plain = (text) => (/^".*"$/s.test(text) ? text.slice(1, -1) : text)
  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id
      if (event.type === "session.created" && event.properties.info?.version) {
        versions.set(session, event.properties.info.version)
      }
      if (event.type === "session.idle" && told.has(session)) {
        send("Stop", session, { last_assistant_message: texts.get(session) ?? "", event_id: event.id })
      }
    },
    "chat.message": async (input, output) => {
      begun(input.sessionID)
      const prompt = output.parts.filter((part) => part.type === "text").map((part) => plain(part.text)).join("\n")
      send("UserPromptSubmit", input.sessionID, { prompt, model: output.message?.model?.modelID, event_id: output.message?.id })
    },
    "experimental.chat.system.transform": async (input, output) => {
      const title = (output.system[0] ?? "").startsWith("You are a title generator")
      if (!title && told.get(input.sessionID)) output.system.push(told.get(input.sessionID))
    },
    "experimental.text.complete": async (input, output) => {
      texts.set(input.sessionID, output.text)
    },
    "shell.env": async (input, output) => {
      const session = input.sessionID ?? shells.get(input.callID)
      if (session) output.env.GIT_PROOF_OPENCODE_SESSION = session
    },
    "tool.execute.before": async (input, output) => {
      begun(input.sessionID)
      shells.set(input.callID, input.sessionID)
      const own = /session ([0-9A-Za-z._-]+)\./.exec(told.get(input.sessionID) ?? "")
      if (own && /git-proof.thought_record$/.test(input.tool) && !output.args.session_id && !output.args.task_id) {
        output.args.session_id = own[1]
      }
      send("PreToolUse", input.sessionID, { tool_name: input.tool, tool_use_id: input.callID, tool_input: output.args })
    },
    "tool.execute.after": async (input, output) => {
      const answer = { output: String(output.output ?? "").slice(0, 65536), metadata: { exit: output.metadata?.exit } }
      const call = { tool_name: input.tool, tool_use_id: input.callID, tool_input: input.args, tool_response: answer }
      const added = send("PostToolUse", input.sessionID, call)?.additionalContext
      if (added) output.output += `\n\n${added}`
    },
    dispose: async () => {
      for (const session of told.keys()) send("SessionEnd", session, {})
    },
  }
}
