import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** A Node 20 where this machine has one, else the Node that runs the tests. */
export function oldestNode(): string {
  const places = [process.env.CAUSEWAY_NODE20, '/usr/local/bin/node', '/usr/bin/node']
  const isNode20 = (path: string) => /^v20\./.test(String(execFileSync(path, ['--version'])))
  return places.find((path) => path !== undefined && existsSync(path) && isNode20(path)) ?? process.execPath
}
