#!/usr/bin/env node
/**
 * Real projects that the tests of Trm refine. `node test/downloads/projects.mjs install` downloads toolz with pytest and flake8, and
 * bubblewrap, from Debian's archive, and minimist with tape from the npm registry, into the cache folder of `clients.mjs`.
 * It installs nothing into this repository or the system.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { npm } from '../../scripts/bootstrap/install.mjs'
import { unavailable } from './clients.mjs'

/** Debian packages: the project, and the dependencies of its tests and its linter. */
const debian = [
  ...[
    'python3-toolz',
    'python3-pytest',
    'python3-pluggy',
    'python3-iniconfig',
    'python3-packaging',
    'python3-attr',
  ],
  ...['python3-flake8', 'python3-pycodestyle', 'python3-pyflakes', 'python3-mccabe', 'bubblewrap'],
]

const packages = ['minimist@1.2.8', 'tape@5.9.0']

/** @type {(env: NodeJS.ProcessEnv) => string} */
const cacheFolder = (env) =>
  join(env.CAUSEWAY_CLIENT_CACHE ?? join(homedir(), '.cache/causeway-clients'), 'projects')

/**
 * Returns the folders of the projects, `undefined` for a missing one. `python` contains toolz, pytest and flake8, for PYTHONPATH;
 * `javascript` is a folder with minimist and tape in `node_modules`; `programs` contains bubblewrap, for PATH.
 *
 * @type {(env: NodeJS.ProcessEnv) => Record<'python' | 'javascript' | 'programs', string | undefined>}
 */
export function projectFolders(env) {
  const python = join(cacheFolder(env), 'debian/usr/lib/python3/dist-packages')
  const javascript = join(cacheFolder(env), 'npm')
  const programs = join(cacheFolder(env), 'debian/usr/bin')
  return {
    programs: existsSync(join(programs, 'bwrap')) ? programs : undefined,
    python: existsSync(join(python, 'toolz')) ? python : undefined,
    javascript: existsSync(join(javascript, 'node_modules/minimist')) ? javascript : undefined,
  }
}

/**
 * Fills a staging folder and renames it when it is complete.
 *
 * @type {(folder: string, fill: (staging: string) => boolean) => boolean}
 */
function installFolder(folder, fill) {
  const staging = `${folder}.${process.pid}`
  try {
    mkdirSync(staging, { recursive: true })
    if (!fill(staging)) return false
    rmSync(folder, { recursive: true, force: true })
    renameSync(staging, folder)
    return true
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/** @type {(command: string, args: readonly string[], cwd: string) => boolean} */
const run = (command, args, cwd) =>
  spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'], timeout: 180_000 }).status === 0

/** @type {(staging: string) => boolean} */
function unpackDebian(staging) {
  const download = () => run('apt-get', ['download', '-qq', ...debian], staging)
  if (!download() && !(run('apt-get', ['update', '-qq'], staging) && download())) return false
  const files = readdirSync(staging).filter((name) => name.endsWith('.deb'))
  return files.length === debian.length && files.every((name) => run('dpkg-deb', ['-x', name, '.'], staging))
}

/** @type {(staging: string) => boolean} */
function installNpm(staging) {
  writeFileSync(join(staging, 'package.json'), '{"private":true}')
  const [command = '', ...args] = npm(process.env, process.execPath)
  return run(
    command,
    [...args, 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', ...packages],
    staging,
  )
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const found = projectFolders(process.env)
  const cache = cacheFolder(process.env)
  const isInstalled = {
    debian:
      (found.python !== undefined && found.programs !== undefined) ||
      installFolder(join(cache, 'debian'), unpackDebian),
    npm: found.javascript !== undefined || installFolder(join(cache, 'npm'), installNpm),
  }
  for (const [name, installed] of Object.entries(isInstalled))
    process.stderr.write(
      `projects: ${name} ${installed ? 'is installed' : 'could not be fetched: check the connection to the registry'}\n`,
    )
  if (!Object.values(isInstalled).every(Boolean)) process.exitCode = unavailable
}
