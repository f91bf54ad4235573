/** What the worker of the vault does. */
import type { DebriefCommand } from './domain/command.ts'
import type { ToolArgs } from './vault-tool.ts'

/** A run, as it crosses to the worker. */
export interface RunRequest {
  readonly tool: string
  readonly args: ToolArgs
  /** what the ids of new features carry */
  readonly run: string
  /** real path of the file to read */
  readonly file?: string | undefined
}

/** Methods of the worker. */
export interface VaultMethods {
  readonly run: (request: RunRequest) => DebriefCommand
}
