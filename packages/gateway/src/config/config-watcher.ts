import { statSync } from 'node:fs'
import { join } from 'node:path'
import { asCausewayError, type CausewayError } from '@causeway/protocol'
import { configFileName, emptyConfig, type GatewayConfig, readGatewayConfig } from './gateway-config.ts'
import { SecretsFile, secretsFileName } from './secrets-file.ts'

export interface WatchedConfig extends GatewayConfig {
  readonly secrets: Readonly<Record<string, string>>
}

export interface ConfigWatcherOptions {
  readonly dataDir: string
  /** Called for every change after the constructor's read. */
  readonly onChange: (config: WatchedConfig) => void
  /** Called once for each new failure. */
  readonly onFailure: (error: CausewayError) => void
  readonly pollMs?: number
}

/** Watches `mcp.json` and `secrets.json`. While one is invalid, the last valid configuration stays current. */
export class ConfigWatcher {
  readonly #options: ConfigWatcherOptions
  #timer: NodeJS.Timeout | undefined
  #version = ''
  #current: WatchedConfig = { ...emptyConfig, secrets: {} }
  #failure: CausewayError | undefined

  constructor(options: ConfigWatcherOptions) {
    this.#options = options
    this.#read()
  }

  start(): void {
    this.#timer = setInterval(() => this.check(), this.#options.pollMs ?? 1000).unref()
  }

  get current(): WatchedConfig {
    return this.#current
  }

  /** Error in the newest files; `undefined` if they are valid. */
  get failure(): CausewayError | undefined {
    return this.#failure
  }

  check(): void {
    if (this.#read()) this.#options.onChange(this.#current)
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #read(): boolean {
    const { dataDir, onFailure } = this.#options
    const version = [configFileName, secretsFileName]
      .map((name) => readFileStamp(join(dataDir, name)))
      .join('|')
    if (version === this.#version) return false
    this.#version = version
    try {
      const config = readGatewayConfig(dataDir)
      this.#current = { ...config, secrets: new SecretsFile(dataDir).read() }
      this.#failure = undefined
      return true
    } catch (error) {
      // The cause may be outside the files, so the next check reads them again.
      this.#version = ''
      const failure = asCausewayError(error)
      if (failure.message !== this.#failure?.message) onFailure(failure)
      this.#failure = failure
      return false
    }
  }
}

function readFileStamp(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat === undefined ? '' : [stat.mtimeMs, stat.ctimeMs, stat.size, stat.ino, stat.mode].join(' ')
}
