/** The index of the vault, and of each tool, as resources. */
import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { shelf, toolNamed } from './shelf.ts'
import type { Vault } from './store.ts'
import { toolDetail, toolIndex } from './tool-index.ts'
import { version } from './version.ts'

/** Declares `toolvault://index` and `toolvault://tools/{tool}`. */
export function vaultResources(app: Registrar<Vault, object>): void {
  app.resource('toolvault://index', {
    name: 'tool index',
    about: 'The tools of the vault as a tree of categories, with what each wants of a plot.',
    read: async () => ({ json: toolIndex(version) }),
  })
  app.resource('toolvault://tools/{tool}', {
    name: 'tool',
    about: 'One tool: schema, samples, what it wants of a plot.',
    complete: { tool: async () => shelf.map(({ name }) => name) },
    async read({ tool: name = '' }) {
      const tool = toolNamed(name)
      if (tool === undefined)
        throw new CausewayError('RESOURCE_NOT_FOUND', `the vault has no tool ${name}`, {
          data: { tools: shelf.map((one) => one.name) },
        })
      return { json: { ...toolDetail(tool), samples: tool.samples } }
    },
  })
}
