import type { Injection } from '@causeway/plot'

export interface VaultTool {
  readonly name: string
  readonly category: string | null
  readonly about: string
  readonly inject: Readonly<Record<string, Injection>>
}

export interface ToolCache {
  tools: readonly VaultTool[]
  /** Unix time in milliseconds. */
  loadedAtMs: number
}
