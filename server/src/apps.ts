/** The apps that this server hosts. A new app is one folder and one line. */

import debrief from '@causeway/app-debrief'
import help from '@causeway/app-help'
import type { App } from '@causeway/app-kit'
import minds from '@causeway/app-minds'
import replay from '@causeway/app-replay'
import toolvault from '@causeway/app-toolvault'
import trm from '@causeway/app-trm'

/** In the order in which they are listed. */
export const apps: readonly App[] = [replay, help, minds, debrief, toolvault, trm]
