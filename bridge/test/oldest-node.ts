import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { clientProgram } from '../../test/downloads/clients.mjs'

/**
 * Returns the path of Node 20, the oldest supported version. Searches `CAUSEWAY_NODE20`, `PATH` and the installation of
 * `test/downloads/clients.mjs`. If none exists, throws in continuous integration, otherwise returns the current Node.
 */
export function findOldestNode(t: { comment(text: string): void }, env = process.env): string {
  const named = env.CAUSEWAY_NODE20
  if (named !== undefined) {
    if (isNode20(named)) return named
    throw new Error(`CAUSEWAY_NODE20 is not Node 20: ${named}`)
  }
  // Searches all of PATH, because the program that started the tests prepended a newer Node.
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const places = [...folders.map((folder) => join(folder, 'node')), clientProgram('node-20', env)]
  const found = places.find((place) => place !== undefined && isNode20(place))
  if (found !== undefined) return found
  const missing = 'Node 20 not found: set CAUSEWAY_NODE20, or run `node test/downloads/clients.mjs install`'
  if (env.CI) throw new Error(missing)
  t.comment(`${missing}; using ${process.version}`)
  return process.execPath
}

const isNode20 = (program: string): boolean =>
  spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout?.startsWith('v20.') === true
