import { resolve } from 'node:path'
import type { App } from '@causeway/app-kit'
import { usage } from '../../bridge/src/settings/usage.ts'
import { apps } from '../../server/src/apps.ts'
import { listParts } from '../../server/src/backup/backup.ts'
import { createCausewayApp } from '../../server/src/causeway/index.ts'
import { commands } from '../../server/src/cli/commands.ts'
import { listSettings } from '../../server/src/config/config.ts'
import type { Makers } from './blocks.ts'
import { commandReference, commandTable } from './commands.ts'
import { dataTable } from './data.ts'
import { type ErrorDefinitions, errorReference, groupErrors } from './errors.ts'
import { packageTable, readPackages } from './packages.ts'
import { settingsTable } from './settings.ts'
import { appTable, toolReference, toolTable } from './tools.ts'

const own = createCausewayApp(() => {
  throw new Error('the documentation does not call tools')
})

/** The server's own app and all hosted apps, in listing order. */
export const documented: readonly App[] = [own, ...apps]

const errorGroups = groupErrors(documented)

/** The definitions of all error codes of the server, its apps and the bridge. */
export const errorDefinitions: ErrorDefinitions = Object.assign({}, ...errorGroups.values())

const repository = resolve(import.meta.dirname, '../..')

/** Generators of all blocks in the documentation. */
export const makers: Makers = new Map([
  ['apps', () => appTable(documented)],
  ['tools', () => toolReference(documented)],
  ...apps.map((app) => [`tools of ${app.name}`, () => toolTable(app)] as const),
  ['packages', () => packageTable(readPackages(repository))],
  ['data', () => dataTable(listParts(apps))],
  ['errors', () => errorReference(errorGroups)],
  ['settings', () => settingsTable(listSettings())],
  ['commands', () => commandReference(commands)],
  ['command table', () => commandTable(commands)],
  ['bridge usage', () => `\`\`\`text\n${usage.trim()}\n\`\`\``],
])
