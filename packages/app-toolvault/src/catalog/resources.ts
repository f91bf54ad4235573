import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import type { Vault } from '../store.ts'
import { catalog, findTool } from './catalog.ts'
import { readSamples } from './samples.ts'
import { createIndex, describeToolFiles } from './tool-index.ts'

export function declareResources(app: Registrar<Vault, object>): void {
  app.resource('toolvault://index', {
    name: 'tool index',
    about: 'The tools as a tree of categories, with the arguments that a plot provides.',
    read: async () => ({ json: createIndex() }),
  })
  app.resource('toolvault://tools/{tool}', {
    name: 'tool',
    about: 'One tool: schema, samples, and the arguments that a plot provides.',
    complete: { tool: async () => catalog.map(({ name }) => name) },
    async read({ tool: name = '' }) {
      const tool = findTool(name)
      if (tool === undefined)
        throw new CausewayError('RESOURCE_NOT_FOUND', `ToolVault has no tool ${name}`, {
          data: { tools: catalog.map((tool) => tool.name) },
        })
      return { json: { ...describeToolFiles(tool), samples: readSamples(tool) } }
    },
  })
}
