import { asCausewayError } from '@causeway/protocol'
import type { Config } from '../../config/config.ts'
import { version } from '../../process/version.ts'
import { adviseCommand } from '../../process/welcome.ts'
import { findBridge } from '../clients/bridge-program.ts'
import { defineCommand } from '../command.ts'
import { type Check, fail, ok } from './check.ts'
import { checkDataFolder, checkDisk, checkNode, checkSqlite } from './machine-checks.ts'
import { checkBridge, checkRoots, checkServer, checkTokens } from './server-checks.ts'

export const doctorCommand = defineCommand({
  name: 'doctor',
  about: 'check this machine, the settings and the server, and suggest fixes',
  details: 'It changes nothing. To check the path from a client to the server, run causeway-bridge --doctor.',
  flags: { json: { about: 'print the results as JSON' } },
  settings: ['--data-dir', '--port', '--token-file'],
  exits: { 0: 'no check failed; there may be warnings', 1: 'a check failed' },
  async run({ flags, config, env, print, printJson }) {
    if (!flags.json) print(`causeway ${version}\n`)
    const checks: Check[] = []
    for await (const check of runChecks(config)) {
      checks.push(check)
      if (!flags.json) print(adviseCommand(formatCheck(check), env))
    }
    const failures = checks.filter(({ state }) => state === 'fail').length
    if (flags.json) printJson({ version, checks })
    else
      print(
        failures === 0
          ? '\nNo problems found.'
          : `\n${failures === 1 ? '1 problem' : `${failures} problems`} found: do what the lines with -> say.`,
      )
    return failures === 0 ? 0 : 1
  },
})

async function* runChecks(readConfig: () => Config): AsyncGenerator<Check> {
  yield checkNode()
  yield await checkSqlite()
  yield checkBridge(findBridge())
  let config: Config
  try {
    config = readConfig()
    yield ok('settings', 'all settings are valid')
  } catch (error) {
    const { message, remedy } = asCausewayError(error)
    yield fail('settings', message, remedy)
    return
  }
  yield checkDataFolder(config.dataDir)
  yield checkDisk(config.dataDir)
  yield checkTokens(config)
  yield checkRoots(config)
  yield* await checkServer(config)
}

const formatCheck = ({ name, state, text, fix }: Check): string =>
  `${state.padEnd(5)} ${name.padEnd(12)} ${text}${fix === undefined ? '' : `\n${' '.repeat(19)}-> ${fix}`}`
