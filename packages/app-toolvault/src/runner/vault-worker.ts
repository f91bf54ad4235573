import { CausewayError } from '@causeway/protocol'
import { serve } from '@causeway/worker'
import { findTool } from '../catalog/catalog.ts'
import type { ToolArgs } from '../catalog/vault-tool.ts'
import { createNewId, runTool } from './run-tool.ts'

interface RunRequest {
  readonly tool: string
  readonly args: ToolArgs
  readonly run: string
  readonly file?: string | undefined
}

export interface VaultMethods {
  /** Returns JSON, which is transferred much faster than an object. */
  readonly run: (request: RunRequest) => string
}

serve<VaultMethods>(
  {
    async run({ tool: name, args, run, file }, watch) {
      const tool = findTool(name)
      if (tool === undefined) throw new CausewayError('UNKNOWN_TOOL', `unknown tool: ${name}`)
      return JSON.stringify(await runTool(tool, args, { newId: createNewId(run), watch, file }))
    },
  },
  { failure: 'the analysis failed' },
)
