/** The entry of the worker in which long runs and imports take place. */
import { CausewayError } from '@causeway/protocol'
import { serve } from '@causeway/worker'
import { idsOf, runTool } from './run.ts'
import { toolNamed } from './shelf.ts'
import type { VaultMethods } from './vault-methods.ts'

serve<VaultMethods>(
  {
    async run({ tool: name, args, run, file }, { signal, progress }) {
      const tool = toolNamed(name)
      if (tool === undefined) throw new CausewayError('UNKNOWN_TOOL', `no such tool: ${name}`)
      return runTool(tool, args, { aid: idsOf(run), watch: { signal, progress }, file })
    },
  },
  { failure: 'the analysis failed' },
)
