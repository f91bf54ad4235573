import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type App, closest } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { lockFolder } from '@causeway/store'
import { leftBeside } from '../backup/data-folder.ts'
import { byteText } from './byte-text.ts'
import { type Call, command, misuse } from './command.ts'
import { bytesOf, dataOf, eraseData, forgetClients } from './erase-data.ts'

export const dataCommand = command({
  name: 'data',
  about: 'erase what one app keeps',
  forms: ['erase <app>'],
  details: `Everything that the app keeps in the data folder is removed, and what the server knows of its clients' state in it; no
other file is touched, and neither are recordings, plots and projects in folders of yours. No server may run on the
folder. It cannot be undone: causeway backup first.`,
  flags: {
    yes: { about: 'do not ask' },
    'dry-run': { about: 'say what would be erased, and erase nothing' },
  },
  settings: ['--data-dir'],
  exits: { 1: 'it was not confirmed, or a server runs' },
  examples: ['causeway data erase minds --dry-run'],
  async run(call) {
    const [verb, name, ...more] = call.words
    if (verb !== 'erase' || name === undefined || more.length > 0)
      throw misuse('data', `not a form of data: ${call.words.join(' ')}`)
    const { apps } = await import('../apps.ts')
    return erase(find(name, apps), call)
  },
})

type EraseFlags = { readonly yes: { readonly about: string }; readonly 'dry-run': { readonly about: string } }

function find(name: string, apps: readonly App[]): App {
  const found = apps.find((app) => app.name.toLowerCase() === name.toLowerCase())
  if (found !== undefined) return found
  const names = apps.map((app) => app.name.toLowerCase())
  const meant = closest(name.toLowerCase(), names)
  throw misuse(
    'data',
    `no app is called ${name}${meant === undefined ? `: ${names.join(', ')}` : `; did you mean ${meant}`}`,
  )
}

async function erase(app: App, { flags, config, say, note, ask }: Call<EraseFlags>): Promise<number> {
  const { dataDir, backupDir = join(dataDir, 'backups') } = config()
  const paths = dataOf(dataDir, app.data)
  if (paths.length === 0) {
    say(`${app.name} keeps nothing in ${dataDir}`)
    return 0
  }
  // Held while it lasts, so that no server starts in the middle.
  const lock = lockFolder(dataDir, { erasing: app.name })
  try {
    const total = paths.reduce((sum, path) => sum + bytesOf(join(dataDir, path)), 0)
    for (const path of paths) note(`${join(dataDir, path)}  ${byteText(bytesOf(join(dataDir, path)))}`)
    if (flags['dry-run']) {
      note('nothing erased')
      return 0
    }
    if (!flags.yes) await confirm(app.name, ask)
    eraseData(dataDir, paths)
    forgetClients(dataDir, app.name)
    say(`erased: ${byteText(total)} of ${app.name}`)
  } finally {
    lock.release()
  }
  if (existsSync(backupDir)) note(`backups still hold it: ${backupDir}`)
  for (const path of leftBeside(dataDir)) note(`what a restore left may hold it: ${path}`)
  return 0
}

async function confirm(name: string, ask: Call['ask']): Promise<void> {
  if (ask === undefined)
    throw new CausewayError('NOT_CONFIRMED', `there is no terminal to ask whether ${name} shall be erased`)
  const answer = await ask(`This cannot be undone. Erase all of this? Type ${name.toLowerCase()}: `)
  if (answer.trim().toLowerCase() === name.toLowerCase()) return
  throw new CausewayError('NOT_CONFIRMED', 'nothing erased', {
    remedy: `type ${name.toLowerCase()}, or say --yes`,
  })
}
