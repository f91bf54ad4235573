import { asObject, meta } from '@causeway/protocol'

const ownName = 'causeway'

export class ServerInfo {
  readonly #bridgeVersion: string
  readonly #warn: (line: string) => void
  #name: unknown
  #hasWarned = false

  /** `warn` is called once if the server is older than the bridge. */
  constructor(bridgeVersion: string, warn: (line: string) => void) {
    this.#bridgeVersion = bridgeVersion
    this.#warn = warn
  }

  /** Whether the server answers a repeated `Causeway-Request` with its first response. */
  get deduplicatesCalls(): boolean {
    return this.#name === ownName
  }

  update(result: unknown): void {
    const { serverInfo, _meta } = asObject(result)
    const { name, version } = asObject(serverInfo ?? asObject(_meta)[meta.serverInfo])
    this.#name = name
    const bridgeVersion = this.#bridgeVersion
    if (this.#hasWarned || name !== ownName || !isOlder(String(version), bridgeVersion)) return
    this.#hasWarned = true
    this.#warn(
      `the server is version ${version}, this bridge is ${bridgeVersion}; restart the server to update it`,
    )
  }
}

/** Returns `false` for versions that are not `major.minor.patch`. */
export function isOlder(version: string, otherVersion: string): boolean {
  const left = parseVersion(version)
  const right = parseVersion(otherVersion)
  if (left === undefined || right === undefined) return false
  const index = left.findIndex((number, at) => number !== right[at])
  return index !== -1 && (left[index] as number) < (right[index] as number)
}

function parseVersion(version: string): number[] | undefined {
  const [, ...parts] = /^(\d+)\.(\d+)\.(\d+)(?:[-+]|$)/.exec(version) ?? []
  return parts.length === 3 ? parts.map(Number) : undefined
}
