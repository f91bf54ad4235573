import { CausewayError } from '@causeway/protocol'
import { serve } from '@causeway/worker'
import { findTool } from '../catalog/catalog.ts'
import type { ToolArgs } from '../catalog/vault-tool.ts'
import { createNewId, runTool } from './run-tool.ts'

interface RunRequest {
  readonly tool: string
  readonly args: ToolArgs
  readonly runId: string
  readonly file?: string | undefined
}

export interface VaultMethods {
  /** Returns JSON, which is transferred much faster than an object. */
  readonly run: (request: RunRequest) => string
}

serve<VaultMethods>(
  {
    async run({ tool: name, args, runId, file }, control) {
      const tool = findTool(name)
      if (tool === undefined) throw new CausewayError('UNKNOWN_TOOL', `unknown tool: ${name}`)
      return JSON.stringify(await runTool(tool, args, { newId: createNewId(runId), control, file }))
    },
  },
  { failure: 'the analysis failed' },
)
