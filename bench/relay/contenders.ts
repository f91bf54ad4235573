import { fileURLToPath } from 'node:url'
import { bridgeProgram, bridges } from '../../test/downloads/clients.mjs'
import { nodes } from '../program.ts'
import type { Command } from './line-client.ts'

/** A path from a line client to a server. */
export interface Contender extends Command {
  /** Unique name: `mcp-remote@0.15.1, Node 24.21.0`. */
  readonly name: string
  readonly program: string
  readonly version: string
}

/** Names of the two that the budgets compare. */
export const ours = 'Causeway'
export const reference = 'mcp-remote'

const source = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The built bridge, started as users start it. */
export const bundle = source('../../bridge/dist/bridge.js')

/** The available contenders, and a line for each missing one. */
export interface Found {
  readonly contenders: readonly Contender[]
  readonly missing: readonly string[]
}

/**
 * Returns every path to the server: our bridge and mcp-remote with each Node on PATH, the others with the current Node, because only
 * equal Nodes compare. They store their own files in `home`.
 */
export function findContenders(url: string, home: string): Found {
  const env = { HOME: home, USERPROFILE: home, XDG_CONFIG_HOME: '', XDG_STATE_HOME: '', XDG_CACHE_HOME: '' }
  const contenders: Contender[] = []
  const missing: string[] = []
  const add = (program: string, version: string, node: string, args: readonly string[], label = program) =>
    void contenders.push({ name: `${label}, Node ${version}`, program, version, node, args, env })
  const peer = (name: keyof typeof bridges, args: (program: string) => readonly string[]) => {
    const program = bridgeProgram(name, process.env)
    if (program === undefined) {
      missing.push(
        `${bridges[name].spec} is not installed; run: node test/downloads/clients.mjs install bridges`,
      )
      return
    }
    for (const [version, node] of name === reference ? found : here)
      add(name, version, node, args(program), bridges[name].spec)
  }
  const found = nodes()
  const here = [[process.versions.node, process.execPath]] as const
  if (![...found.keys()].some((version) => version.startsWith('20.')))
    missing.push('there is no Node 20 on PATH, the oldest that the bridge supports')
  for (const [version, node] of found) add(ours, version, node, [bundle, '--url', url])
  add('naive relay', process.versions.node, process.execPath, [source('naive-relay.mjs'), url])
  peer('mcp-remote', (program) => [program, url])
  peer('mcp-proxy', (program) => [source('mcp-proxy-stdio.mjs'), program, url])
  peer('supergateway', (program) => [program, '--streamableHttp', url, '--logLevel', 'none'])
  return { contenders, missing }
}
