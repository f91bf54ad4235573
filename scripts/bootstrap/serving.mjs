import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/**
 * How `npm start` runs the program: in which folder, with which settings beside those of the user. A server starts in the
 * checkout, with the example recordings and plots; any other command where the user stands, since its paths and the
 * project that it configures are meant from there. A command makes no data folder: one that is restored has to be free.
 *
 * @param {readonly string[]} args  what stands behind `npm start --`
 * @param {{ root: string, env?: NodeJS.ProcessEnv, cwd?: string }} place
 */
export function serving(args, { root, env = process.env, cwd = process.cwd() }) {
  const serves = args[0] === undefined || args[0].startsWith('-') || args[0] === 'serve'
  const dataDir = join(root, '.causeway')
  const plots = join(dataDir, 'plots')
  const calledByNpm = env.npm_lifecycle_event !== undefined && env.INIT_CWD !== undefined && cwd === root
  if (serves) putExamples(join(root, 'fixtures/plots'), plots)
  return {
    serves,
    // npm changes into the checkout, and tells where it was called.
    cwd: serves ? root : calledByNpm ? env.INIT_CWD : cwd,
    env: {
      CAUSEWAY_DATA_DIR: dataDir,
      CAUSEWAY_RECORDING_ROOTS: join(root, 'fixtures/recordings'),
      ...(existsSync(plots) ? { CAUSEWAY_PLOT_ROOTS: plots } : {}),
    },
  }
}

/** Copies of the example plots that may be changed; those that are there already stay as they are. */
function putExamples(from, to) {
  // The data folder above it is made with it, and is the user's alone.
  mkdirSync(to, { recursive: true, mode: 0o700 })
  for (const file of readdirSync(from)) {
    if (!file.endsWith('.plot.json') || existsSync(join(to, file))) continue
    copyFileSync(join(from, file), join(to, file))
  }
}
