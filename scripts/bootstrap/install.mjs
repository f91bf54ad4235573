import { existsSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fingerprint, unlessStamped } from './stamp.mjs'

const installedFrom = ['package-lock.json', 'package.json']

/**
 * Installs the locked dependencies when the lockfile or package.json changed since the last complete installation.
 * `run` starts a program and throws unless it succeeds.
 *
 * @type {(root: string, run: import('./supervisor.mjs').Run) => Promise<boolean>}
 */
export function installDependencies(root, run) {
  const stamp = {
    file: join(root, 'node_modules/.causeway-install'),
    print: fingerprint(root, installedFrom),
  }
  return unlessStamped(stamp, async () => {
    const [program, ...first] = npm(process.env, process.execPath)
    await run(
      'install (npm ci, about 20 s)',
      program,
      [...first, 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'],
      { env: withoutOwnBin(root, process.env) },
    )
  })
}

/**
 * Builds tap's test class for the plugins that .taprc names, after each installation and each change of .taprc.
 *
 * @type {(root: string, run: import('./supervisor.mjs').Run, node: string) => Promise<boolean>}
 */
export function buildTap(root, run, node) {
  const stamp = {
    file: join(root, 'node_modules/.causeway-tap'),
    print: fingerprint(root, [...installedFrom, '.taprc']),
    outcomes: [join(root, '.tap/plugins/package.json')],
  }
  return unlessStamped(stamp, () =>
    run('test runner (tap build)', node, [join(root, 'node_modules/tap/dist/esm/run.mjs'), 'build']),
  )
}

/**
 * The npm to install with, as a command line: the one that started us, else the one beside this Node, else the one on PATH.
 *
 * @type {(env: NodeJS.ProcessEnv, execPath: string) => string[]}
 */
export function npm(env, execPath) {
  if (env.npm_execpath?.endsWith('npm-cli.js')) return [env.npm_node_execpath ?? execPath, env.npm_execpath]
  const beside = ['../lib/node_modules/npm/bin/npm-cli.js', 'node_modules/npm/bin/npm-cli.js']
    .map((path) => join(dirname(execPath), path))
    .find((path) => existsSync(path))
  return beside === undefined ? ['npm'] : [execPath, beside]
}

/**
 * The environment without this checkout's own programs on PATH: on a warm tree `node` itself would be the one that
 * `npm ci` is about to delete.
 *
 * @type {(root: string, env: NodeJS.ProcessEnv) => NodeJS.ProcessEnv}
 */
export function withoutOwnBin(root, env) {
  const own = join(root, 'node_modules', '.bin')
  const key = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH'
  return {
    ...env,
    [key]: (env[key] ?? '')
      .split(delimiter)
      .filter((part) => part !== own)
      .join(delimiter),
  }
}
