#!/usr/bin/env node
/**
 * Clients that some tests use and that are too heavy for this checkout: `node scripts/clients.mjs install` brings them
 * from the npm registry into a cache folder, each in exactly one version. Built-in modules and the syntax of Node 18
 * only, because it may run before anything is installed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { npm } from './bootstrap/install.mjs'

/** Name -> package, version and the program inside it. */
export const clients = Object.freeze({
  inspector: {
    spec: '@modelcontextprotocol/inspector@2.12.0',
    program: '@modelcontextprotocol/inspector/clients/launcher/build/index.js',
  },
  'claude-code-2.1.330': {
    spec: '@anthropic-ai/claude-code@2.1.330',
    program: '@anthropic-ai/claude-code/cli-wrapper.cjs',
  },
  'claude-code-2.1.197': {
    spec: '@anthropic-ai/claude-code@2.1.197',
    program: '@anthropic-ai/claude-code/cli-wrapper.cjs',
  },
  'conformance-0.1': {
    spec: '@modelcontextprotocol/conformance@0.1.16',
    program: '@modelcontextprotocol/conformance/dist/index.js',
  },
  'conformance-0.2': {
    spec: '@modelcontextprotocol/conformance@0.2.0-alpha.12',
    program: '@modelcontextprotocol/conformance/dist/index.js',
  },
})

/** The exit code for "could not be installed", which says nothing about this product (sysexits.h, EX_UNAVAILABLE). */
export const unavailable = 69

/** @type {(env: NodeJS.ProcessEnv) => string} */
const cacheFolder = (env) => env.CAUSEWAY_CLIENT_CACHE ?? join(homedir(), '.cache/causeway-clients')

/**
 * The program of an installed client, to be run by Node; undefined where it is not installed.
 *
 * @type {(name: keyof typeof clients, env: NodeJS.ProcessEnv) => string | undefined}
 */
export function clientProgram(name, env) {
  const { spec, program } = clients[name]
  const file = join(folderOf(cacheFolder(env), spec), 'node_modules', program)
  return existsSync(file) ? file : undefined
}

/** @type {(cache: string, spec: string) => string} */
const folderOf = (cache, spec) => join(cache, spec.replace(/[@/]+/g, '-').replace(/^-/, ''))

/**
 * Installs what is missing and answers the exit code. A folder gets its name when it is complete, so that an install
 * that was interrupted, or that runs twice at once, leaves nothing half done.
 *
 * @type {(env: NodeJS.ProcessEnv, say: (line: string) => void) => number}
 */
export function installClients(env, say) {
  const cache = cacheFolder(env)
  let code = 0
  for (const [name, { spec }] of Object.entries(clients)) {
    if (clientProgram(/** @type {keyof typeof clients} */ (name), env) !== undefined) {
      say(`${spec} is there`)
      continue
    }
    if (!install(spec, folderOf(cache, spec), env) && !install(spec, folderOf(cache, spec), env)) {
      say(`could not install ${spec} (tried twice): the registry, not this checkout, is the place to look`)
      code = unavailable
    } else say(`${spec} installed`)
  }
  return code
}

/** @type {(spec: string, folder: string, env: NodeJS.ProcessEnv) => boolean} */
function install(spec, folder, env) {
  const staging = `${folder}.${process.pid}`
  try {
    mkdirSync(staging, { recursive: true })
    writeFileSync(join(staging, 'package.json'), '{"private":true}')
    const [command = '', ...args] = npm(env, process.execPath)
    const options = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', spec]
    const { status } = spawnSync(command, [...args, ...options], {
      cwd: staging,
      env,
      stdio: ['ignore', 'inherit', 'inherit'],
      timeout: 120_000,
    })
    if (status !== 0) return false
    rmSync(folder, { recursive: true, force: true })
    renameSync(staging, folder)
    return true
  } finally {
    rmSync(staging, { recursive: true, force: true })
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const say = (line) => void process.stderr.write(`clients: ${line}\n`)
  if (process.argv[2] === 'install') process.exitCode = installClients(process.env, say)
  else {
    say('usage: node scripts/clients.mjs install')
    process.exitCode = 1
  }
}
