import { spawnSync } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { clientProgram } from '../../test/downloads/clients.mjs'

/**
 * A Node 20, the oldest line that the bridge runs on: the one that `CAUSEWAY_NODE20` names, else one of the search path,
 * else the one that `test/downloads/clients.mjs` installs. Without any, a developer's test runs on the current Node and says so;
 * in continuous integration, where it has to be proved, this throws.
 */
export function oldestNode(t: { comment(text: string): void }, env = process.env): string {
  const named = env.CAUSEWAY_NODE20
  if (named !== undefined) {
    if (isNode20(named)) return named
    throw new Error(`CAUSEWAY_NODE20 names no Node 20: ${named}`)
  }
  // The whole path: what started the tests has put a newer Node first.
  const folders = (env.PATH ?? '').split(delimiter).filter((folder) => folder !== '')
  const places = [...folders.map((folder) => join(folder, 'node')), clientProgram('node-20', env)]
  const found = places.find((place) => place !== undefined && isNode20(place))
  if (found !== undefined) return found
  const missing =
    'no Node 20 is found: name one in CAUSEWAY_NODE20, or install one by `node test/downloads/clients.mjs install`'
  if (env.CI) throw new Error(missing)
  t.comment(`${missing}; this runs on ${process.version}`)
  return process.execPath
}

const isNode20 = (program: string): boolean =>
  spawnSync(program, ['--version'], { encoding: 'utf8' }).stdout?.startsWith('v20.') === true
