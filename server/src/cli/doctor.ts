import { asCausewayError } from '@causeway/protocol'
import type { Config } from '../config.ts'
import { version } from '../version.ts'
import { findBridge } from './bridge-program.ts'
import { type Check, checkLine, fail, ok } from './check.ts'
import { command, misuse } from './command.ts'
import { dataCheck, diskCheck, nativeCheck, nodeCheck } from './machine-checks.ts'
import { bridgeCheck, rootsCheck, serverChecks, tokenCheck } from './server-checks.ts'

export const doctorCommand = command({
  name: 'doctor',
  about: 'check this machine, the settings and the server, and suggest fixes',
  forms: [''],
  details: `It changes nothing. The way from a client to the server is examined by the bridge: causeway-bridge --doctor.`,
  flags: { json: { about: 'print what was found as JSON' } },
  settings: ['--data-dir', '--port', '--token-file'],
  exits: { 0: 'nothing is in the way; warnings may be', 1: 'something is to be mended' },
  async run({ words, flags, config, say }) {
    if (words.length > 0) throw misuse('doctor', `doctor takes no words: ${words.join(' ')}`)
    if (!flags.json) say(`causeway ${version}\n`)
    const checks: Check[] = []
    for await (const check of examine(config)) {
      checks.push(check)
      if (!flags.json) say(checkLine(check))
    }
    const failures = checks.filter(({ state }) => state === 'fail').length
    if (flags.json) say(JSON.stringify({ version, checks }, null, 2))
    else say(failures === 0 ? '\nEverything needed works.' : `\n${failures} to mend, see -> above.`)
    return failures === 0 ? 0 : 1
  },
})

/** Each thing as soon as it is known. */
async function* examine(read: () => Config): AsyncGenerator<Check> {
  yield nodeCheck()
  yield await nativeCheck()
  yield bridgeCheck(findBridge())
  let config: Config
  try {
    config = read()
    yield ok('settings', 'every one is known and of the right form')
  } catch (error) {
    const { message, remedy } = asCausewayError(error)
    yield fail('settings', message, remedy)
    return
  }
  yield dataCheck(config.dataDir)
  yield diskCheck(config.dataDir)
  yield tokenCheck(config)
  yield rootsCheck(config)
  yield* await serverChecks(config)
}
