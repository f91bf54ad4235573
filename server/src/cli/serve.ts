import { settingTable } from '../config.ts'
import { command, misuse } from './command.ts'

export const serveCommand = command({
  name: 'serve',
  about: 'serve until stopped; what `causeway` alone does',
  forms: [''],
  details: `A setting is a flag, an environment variable, a line of --env-file or a key of causeway.config.json in the
working directory; the first of these that is given counts. Ctrl-C or SIGTERM stops it after the calls under way, a
second one at once; SIGHUP looks for tools again.`,
  flags: {},
  settings: settingTable().map(({ flag }) => flag),
  exits: { 1: 'it could not start: a setting, a data file or the port', 2: 'the command line is wrong' },
  examples: ['causeway --recording-roots ~/simulations', 'causeway --port 3200 --log-files true'],
  async run({ words, config }) {
    if (words.length > 0) throw misuse('serve', `serve takes no words: ${words.join(' ')}`)
    const { serve } = await import('../serve.ts')
    await serve(config())
    return 0
  },
})
