/** What a mount says of itself when a client arrives. */
import { CausewayError } from '@causeway/protocol'
import type { Mount, MountDescription } from './core.ts'
import type { MountLists } from './registry.ts'
import { version } from './version.ts'

/** Throws `ROUTE_NOT_FOUND` where nothing is served. */
export function describeMount(lists: MountLists | undefined, mount: Mount): MountDescription {
  if (lists === undefined) throw new CausewayError('ROUTE_NOT_FOUND', `no app is served at ${mount.path}`)
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
