import { join } from 'node:path'
import { writePrivateFile } from '@causeway/protocol'
import { GatewayError } from '../errors.ts'
import { JsonEditError, readJsonValue, removeJsonValue, setJsonValue } from './edit-json.ts'
import { configFileName, type GatewayConfig, parseGatewayConfig } from './gateway-config.ts'
import { readPrivateFile } from './private-file.ts'

const syntax = { comments: true }

/** Edits `mcp.json`. Preserves all other text, including unknown keys and comments. */
export class ConfigFile {
  readonly path: string

  constructor(dataDir: string) {
    this.path = join(dataDir, configFileName)
  }

  /** Throws `GATEWAY_CONFIG_INVALID`. */
  read(): GatewayConfig {
    return parseGatewayConfig(this.#text, this.path)
  }

  readEntry(name: string): unknown {
    return this.#attempt(() => readJsonValue(this.#text, ['mcpServers', name], syntax))
  }

  /** Throws `GATEWAY_CONFIG_INVALID`, also if the new entry is invalid. */
  setServer(name: string, entry: object): void {
    this.#write(
      this.#attempt(() => setJsonValue(this.#text, ['mcpServers', name], entry, syntax)),
      name,
    )
  }

  /** Sets a key of `causeway` such as `enabled`; `undefined` removes it. */
  setOption(name: string, key: string, value: unknown): void {
    const path = ['mcpServers', name, 'causeway', key]
    const text = this.#attempt(() =>
      value === undefined
        ? removeJsonValue(this.#text, path, syntax)
        : setJsonValue(this.#text, path, value, syntax),
    )
    this.#write(text, name)
  }

  removeServer(name: string): boolean {
    if (this.readEntry(name) === undefined) return false
    this.#write(this.#attempt(() => removeJsonValue(this.#text, ['mcpServers', name], syntax)))
    return true
  }

  get #text(): string {
    const text = readPrivateFile(this.path) ?? ''
    return text.trim() === '' ? '{}\n' : text
  }

  #write(text: string, name?: string): void {
    const { problems } = parseGatewayConfig(text, this.path)
    const problem = problems.find((candidate) => candidate.name === name)
    if (problem !== undefined) throw problem.error
    writePrivateFile(this.path, text)
  }

  #attempt<T>(edit: () => T): T {
    try {
      return edit()
    } catch (error) {
      if (!(error instanceof JsonEditError)) throw error
      throw new GatewayError('GATEWAY_CONFIG_INVALID', `${error.message}: ${this.path}`, {
        data: { path: this.path },
      })
    }
  }
}
