import { listEffectiveSettings, listExplicitSettings } from '../../config/effective-settings.ts'
import { findServer } from '../../process/server-file.ts'
import { defineCommand } from '../command.ts'
import { formatTable } from '../format.ts'

export const configCommand = defineCommand({
  name: 'config',
  about: 'print the settings that apply, and where each of them was set',
  details: `Prints the settings of the running server, or those that a server started now would use. A source is a flag, an
environment variable, a key in a file, or default. Secrets are not printed.`,
  flags: {
    given: { about: 'print only the settings that were given, without defaults' },
    json: { about: 'print the settings as JSON' },
  },
  examples: ['causeway config', 'causeway config --given', 'causeway config --port 3200 --json'],
  run({ flags, invocation, print, printJson, note }) {
    const localInvocation = invocation()
    const serverState = findServer(localInvocation.config.dataDir)
    const runningSettings = serverState.state === 'running' ? serverState.server.settings : undefined
    const rows = listEffectiveSettings(runningSettings ?? listExplicitSettings(localInvocation)).filter(
      ({ source }) => !flags.given || source !== 'default',
    )
    if (flags.json) printJson(rows)
    else
      for (const line of formatTable(rows.map(({ env, value, source }) => [env, `${value}  (${source})`])))
        print(line)
    if (serverState.state !== 'running')
      note(`no server uses ${localInvocation.config.dataDir}: these are the settings of the next start`)
    else if (runningSettings === undefined)
      note('the running server is older and does not record its settings')
    else note(`settings of the running server at ${serverState.server.url}`)
    return 0
  },
})
