/** What a mount says of itself when a client arrives. */
import { CausewayError } from '@causeway/protocol'
import type { Mount, MountDescription } from './core.ts'
import type { MountLists } from './registry.ts'
import { version } from './version.ts'

/** Descriptions of the lists as they are now, each made once. Throws `ROUTE_NOT_FOUND` where nothing is served. */
export function mountDescriptions(): (lists: MountLists | undefined, mount: Mount) => MountDescription {
  const known = new WeakMap<MountLists, MountDescription>()
  return (lists, mount) => {
    if (lists === undefined) throw new CausewayError('ROUTE_NOT_FOUND', `no app is served at ${mount.path}`)
    const description = known.get(lists) ?? describe(lists)
    known.set(lists, description)
    return description
  }
}

function describe(lists: MountLists): MountDescription {
  const resources = lists.hosted.some(({ app }) => app.resources.length > 0)
  return {
    serverInfo: { name: 'causeway', title: 'Causeway', version },
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      ...(resources ? { resources: { listChanged: true, subscribe: true } } : {}),
      completions: {},
      logging: {},
    },
    instructions: lists.hosted.map(({ app }) => `${app.name}: ${app.about}`).join('\n'),
  }
}
