import type { Injection } from './domain/inject.ts'

/** A tool of the vault as its list tells it. */
export interface VaultTool {
  readonly name: string
  readonly category: string | null
  readonly about: string
  readonly inject: Readonly<Record<string, Injection>>
}

/** The list of tools, kept so that each run of a tool is one call of the vault. */
export interface ToolCache {
  tools: readonly VaultTool[]
  /** when it was asked for */
  atMs: number
}
