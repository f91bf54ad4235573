import { meta } from '@causeway/protocol'

/** What the server has said about itself. */
export interface KnownServer {
  /** Reads the result of `initialize` or `server/discover`. */
  learn(result: unknown): void
  /** True for a server that gives a repeat of a call, known by its `Causeway-Request`, the first answer. */
  answersRepeats(): boolean
}

interface Info {
  readonly name?: unknown
  readonly version?: unknown
}

/** `version` is the bridge's own; `warn` gets one line when the server is older, once. */
export function createKnownServer(version: string, warn: (line: string) => void): KnownServer {
  let name: unknown
  let hasWarned = false
  return {
    learn(result) {
      const { serverInfo, _meta } = (result ?? {}) as { serverInfo?: Info; _meta?: Record<string, Info> }
      const info = serverInfo ?? _meta?.[meta.serverInfo]
      name = info?.name
      if (hasWarned || name !== ours || !isOlder(String(info?.version), version)) return
      hasWarned = true
      warn(
        `the server is version ${info?.version}, this bridge is ${version}; restart the server to update it`,
      )
    },
    answersRepeats: () => name === ours,
  }
}

/** The name under which our server introduces itself. */
const ours = 'causeway'

/** Compares `major.minor.patch`; what follows a dash is left out, and a version of another form is never older. */
export function isOlder(version: string, than: string): boolean {
  const left = numbersOf(version)
  const right = numbersOf(than)
  if (left === undefined || right === undefined) return false
  const at = left.findIndex((number, index) => number !== right[index])
  return at !== -1 && (left[at] as number) < (right[at] as number)
}

function numbersOf(version: string): number[] | undefined {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)(?:[-+]|$)/.exec(version) ?? []
  return parts.length === 3 ? parts.map(Number) : undefined
}
