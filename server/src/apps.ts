import debrief from '@causeway/app-debrief'
import help from '@causeway/app-help'
import type { App } from '@causeway/app-kit'
import minds from '@causeway/app-minds'
import replay from '@causeway/app-replay'
import toolvault from '@causeway/app-toolvault'
import trm from '@causeway/app-trm'
import { createCausewayApp } from './causeway/index.ts'

/** Apps in listing order. */
export const apps: readonly App[] = [replay, help, minds, debrief, toolvault, trm]

/** Returns all apps, for documentation. Tools of the server's own app cannot be called. */
export const listBuiltInApps = (): readonly App[] => [
  createCausewayApp(() => {
    throw new Error('declared for documentation only')
  }),
  ...apps,
]
