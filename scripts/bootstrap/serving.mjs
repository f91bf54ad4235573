import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The working directory and default settings for `npm start`. A server runs in the checkout and gets the example
 * recordings and plots. Other commands run in the caller's folder, because their paths are relative to it, and don't
 * create the data folder, because `restore` requires that it does not exist.
 *
 * @param {readonly string[]} args  arguments after `npm start --`
 * @param {{ root: string, env?: NodeJS.ProcessEnv, cwd?: string }} place
 */
export function serving(args, { root, env = process.env, cwd = process.cwd() }) {
  const asksOnly = args.some((arg) => ['-h', '--help', '-v', '--version'].includes(arg))
  const serves = !asksOnly && findCommand(args) === 'serve'
  const dataDir = join(root, '.causeway')
  const plots = join(dataDir, 'plots')
  // npm changes to the root of the checkout and passes the caller's folder in INIT_CWD.
  const isCalledByNpm = env.npm_lifecycle_event !== undefined && env.INIT_CWD !== undefined && cwd === root
  if (serves) copyExamples(join(root, 'fixtures/plots'), plots)
  return {
    serves,
    cwd: serves ? root : isCalledByNpm ? env.INIT_CWD : cwd,
    env: {
      CAUSEWAY_DATA_DIR: dataDir,
      CAUSEWAY_RECORDING_ROOTS: join(root, 'fixtures/recordings'),
      ...(existsSync(plots) ? { CAUSEWAY_PLOT_ROOTS: plots } : {}),
    },
  }
}

/** Returns the command after the settings, each of which has a value: `--port 3001 status` or `--port=3001 status`. */
function findCommand(args) {
  for (let at = 0; at < args.length; at += 1) {
    if (!args[at].startsWith('-')) return args[at]
    if (!args[at].includes('=')) at += 1
  }
  return 'serve'
}

/** Copies the example plots that are missing, so that users can change them. */
function copyExamples(from, to) {
  // Also creates the data folder, which is private to the user.
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const file of readdirSync(from))
    if (file.endsWith('.plot.json') && !existsSync(join(to, file)))
      copyFileSync(join(from, file), join(to, file))
}
