#!/usr/bin/env node
/**
 * Fetches third-party data and modules that tests read, each in a fixed version, into the cache folder of the clients:
 * `node test/downloads/samples.mjs`. Exits with 69 if the registry is unavailable.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { npm } from '../../scripts/bootstrap/install.mjs'
import { unavailable } from './clients.mjs'

/** Python packages that the tests of the Python recorder simulate with, and NumPy, which they need. */
const pythonSpecs = ['mujoco==3.14.0', 'pybullet==3.2.7', 'numpy']

/** Package and file of each sample, by name. The dependencies of a package are not fetched. */
export const samples = Object.freeze({
  // 116,000 lines of NMEA 0183 without dates, Apache-2.0.
  plaka: { spec: 'signalk-server@2.32.0', file: 'package/samples/plaka.log' },
  // Physics engines that Replay's tests record, MIT.
  cannon: { spec: 'cannon-es@0.20.0', file: 'package/dist/cannon-es.js' },
  jolt: { spec: 'jolt-physics@1.1.0', file: 'package/dist/jolt-physics.wasm-compat.js' },
  planck: { spec: 'planck@1.5.0', file: 'package/dist/planck.mjs' },
})

/** @type {(env: NodeJS.ProcessEnv, spec: string) => string} */
const sampleFolder = (env, spec) =>
  join(
    env.CAUSEWAY_CLIENT_CACHE ?? join(homedir(), '.cache/causeway-clients'),
    `sample-${spec.replace(/[@/]+/g, '-')}`,
  )

/**
 * Returns the path of a sample, or `undefined` if it was not fetched.
 *
 * @type {(name: keyof typeof samples, env: NodeJS.ProcessEnv) => string | undefined}
 */
export function samplePath(name, env) {
  const { spec, file } = samples[name]
  const path = join(sampleFolder(env, spec), file)
  return existsSync(path) ? path : undefined
}

/** @type {(env: NodeJS.ProcessEnv) => string} */
const pythonFolder = (env) => sampleFolder(env, pythonSpecs.join('-').replaceAll('==', '-'))

/**
 * Returns the folder of the Python packages for PYTHONPATH, or `undefined` if `python3` cannot import them from it.
 *
 * @type {(env: NodeJS.ProcessEnv) => string | undefined}
 */
export function pythonPackages(env) {
  const folder = pythonFolder(env)
  const options = { env: { ...env, PYTHONPATH: folder } }
  const isFound =
    existsSync(folder) && spawnSync('python3', ['-c', 'import mujoco, pybullet'], options).status === 0
  return isFound ? folder : undefined
}

/**
 * Fetches the Python packages. Not every machine has pip and an index: without them, only their tests are missing.
 *
 * @type {(env: NodeJS.ProcessEnv) => string}
 */
function fetchPython(env) {
  const folder = pythonFolder(env)
  if (pythonPackages(env) !== undefined) return 'are already fetched'
  const staging = `${folder}.${process.pid}`
  const args = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--target', staging, ...pythonSpecs]
  try {
    const { status } = spawnSync('python3', args, {
      env,
      stdio: ['ignore', 'ignore', 'inherit'],
      timeout: 50_000,
    })
    if (status !== 0) return 'could not be fetched: their tests are not run'
    rmSync(folder, { recursive: true, force: true })
    renameSync(staging, folder)
    return 'fetched'
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

/**
 * Fetches the missing samples and returns the exit code. A folder gets its final name when it is complete.
 *
 * @type {(env: NodeJS.ProcessEnv, say: (line: string) => void) => number}
 */
export function fetchSamples(env, say) {
  let code = 0
  for (const { spec, file } of Object.values(samples)) {
    const folder = sampleFolder(env, spec)
    if (existsSync(join(folder, file))) say(`${spec} is already fetched`)
    else if (fetchOne(spec, file, folder, env)) say(`${spec} fetched`)
    else {
      say(`could not fetch ${spec}: check the connection to the registry`)
      code = unavailable
    }
  }
  say(`${pythonSpecs.join(', ')} ${fetchPython(env)}`)
  return code
}

/** @type {(spec: string, file: string, folder: string, env: NodeJS.ProcessEnv) => boolean} */
function fetchOne(spec, file, folder, env) {
  const staging = `${folder}.${process.pid}`
  try {
    mkdirSync(staging, { recursive: true })
    const [command = '', ...args] = npm(env, process.execPath)
    const pack = spawnSync(command, [...args, 'pack', spec, '--ignore-scripts', '--silent'], {
      cwd: staging,
      env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
      timeout: 120_000,
    })
    const archive = pack.stdout?.trim().split('\n').at(-1) ?? ''
    if (pack.status !== 0 || archive === '') return false
    const { status } = spawnSync('tar', ['-xzf', archive, file], { cwd: staging, stdio: 'inherit' })
    if (status !== 0) return false
    rmSync(folder, { recursive: true, force: true })
    renameSync(staging, folder)
    return true
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href)
  process.exitCode = fetchSamples(process.env, (line) => void process.stderr.write(`samples: ${line}\n`))
