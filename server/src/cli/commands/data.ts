import { existsSync, lstatSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { App, DataPart } from '@causeway/app-kit'
import { FolderLock, sidecars, updateFile } from '@causeway/store'
import { listLeftovers } from '../../backup/data-folder.ts'
import { matchesPart } from '../../backup/data-part.ts'
import { formatSuggestion } from '../../config/command-line.ts'
import { ServerError } from '../../errors.ts'
import { type CommandCall, createUsageError, defineCommand } from '../command.ts'
import { formatBytes } from '../format.ts'

const flags = {
  yes: { about: 'do not ask for confirmation' },
  'dry-run': { about: 'print what would be erased, and erase nothing' },
}

export const dataCommand = defineCommand({
  name: 'data',
  about: 'erase the data of one app',
  forms: ['erase <app>'],
  details: `Removes everything that the app stores in the data folder, and the state of clients in this app. No other file is
changed; recordings, plots and projects in your own folders stay. No server may run on the data folder. The command cannot be
undone: run causeway backup first.`,
  flags,
  exits: { 1: 'the command was not confirmed, or a server runs' },
  examples: ['causeway data erase minds --dry-run'],
  async run(call) {
    const [, name = ''] = call.args
    const { apps } = await import('../../apps.ts')
    return erase(findApp(name, apps), call)
  },
})

function findApp(name: string, apps: readonly App[]): App {
  const match = apps.find((app) => app.name.toLowerCase() === name.toLowerCase())
  if (match !== undefined) return match
  const names = apps.map((app) => app.name.toLowerCase())
  const hint = formatSuggestion(name, names) || `; use one of ${names.join(', ')}`
  throw createUsageError('data', `unknown app: ${name}${hint}`)
}

async function erase(app: App, call: CommandCall<typeof flags>): Promise<number> {
  const { flags, config, print, note, ask } = call
  const { dataDir, backupDir = join(dataDir, 'backups') } = config()
  const paths = findAppData(dataDir, app.data)
  if (paths.length === 0) {
    print(`${app.name} has no data in ${dataDir}`)
    return 0
  }
  const lock = new FolderLock(dataDir, { erasing: app.name })
  try {
    const total = paths.reduce((sum, path) => sum + measureBytes(join(dataDir, path)), 0)
    for (const path of paths)
      note(`${join(dataDir, path)}  ${formatBytes(measureBytes(join(dataDir, path)))}`)
    if (flags['dry-run']) {
      note('nothing erased')
      return 0
    }
    if (!flags.yes) await confirm(app.name, ask)
    eraseData(dataDir, paths)
    deleteClientState(dataDir, app.name)
    print(`erased: ${formatBytes(total)} of ${app.name}`)
  } finally {
    lock.release()
  }
  if (existsSync(backupDir)) note(`backups may still contain the data: ${backupDir}`)
  for (const path of listLeftovers(dataDir))
    note(`leftovers of a restore may still contain the data: ${path}`)
  return 0
}

async function confirm(name: string, ask: CommandCall['ask']): Promise<void> {
  if (ask === undefined)
    throw new ServerError('NOT_CONFIRMED', `no terminal to confirm that the data of ${name} is erased`)
  const reply = await ask(`This cannot be undone. Erase all of this? Type ${name.toLowerCase()}: `)
  if (reply.trim().toLowerCase() === name.toLowerCase()) return
  throw new ServerError('NOT_CONFIRMED', 'nothing erased', {
    remedy: `type ${name.toLowerCase()}, or use --yes`,
  })
}

export function findAppData(dataDir: string, parts: readonly DataPart[]): readonly string[] {
  const paths = parts.flatMap(({ path, kind }) => {
    const names = path.includes('*') ? expandPattern(dataDir, path) : [path.replace(/\/$/, '')]
    return kind === 'database' ? names.flatMap((name) => ['', ...sidecars].map((end) => name + end)) : names
  })
  return [...new Set(paths)].filter((path) => existsSync(join(dataDir, path))).sort()
}

const expandPattern = (dataDir: string, pattern: string): readonly string[] =>
  listFolder(join(dataDir, dirname(pattern)))
    .map((name) => `${dirname(pattern)}/${name}`)
    .filter((path) => matchesPart(path, pattern))

const listFolder = (folder: string): readonly string[] => (existsSync(folder) ? readdirSync(folder) : [])

/**
 * Does not follow links. Removes databases after their markers, so that an interrupted erasure does not look like
 * lost data.
 */
export function eraseData(dataDir: string, paths: readonly string[]): void {
  for (const path of paths.toReversed()) rmSync(join(dataDir, path), { recursive: true, force: true })
  for (const folder of new Set(paths.map((path) => dirname(path))))
    if (folder !== '.' && existsSync(join(dataDir, folder)) && listFolder(join(dataDir, folder)).length === 0)
      rmdirSync(join(dataDir, folder))
}

export function deleteClientState(dataDir: string, app: string): void {
  const file = join(dataDir, 'server.db')
  if (existsSync(file)) updateFile(file, [{ sql: 'DELETE FROM client_state WHERE app = ?', values: [app] }])
}

export function measureBytes(path: string): number {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return 0
  if (!stat.isDirectory()) return stat.size
  return readdirSync(path).reduce((sum, name) => sum + measureBytes(join(path, name)), 0)
}
