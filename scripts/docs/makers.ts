import { codes } from '@causeway/protocol'
import { usage } from '../../bridge/src/usage.ts'
import { settingTable } from '../../server/src/config.ts'
import type { Makers } from './blocks.ts'
import { errorTable } from './errors.ts'
import { settingsTable } from './settings.ts'

/** Every block that the documentation can hold, and what it is made of. */
export const makers: Makers = new Map([
  ['errors', () => errorTable(codes)],
  ['settings', () => settingsTable(settingTable())],
  ['bridge usage', () => `\`\`\`text\n${usage.trim()}\n\`\`\``],
])
