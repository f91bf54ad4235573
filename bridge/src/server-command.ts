import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { options } from './options.ts'

/** A program to start, by its file and arguments or as a line for the shell. */
export interface Command {
  readonly file: string
  readonly args: readonly string[]
  readonly shell: boolean
}

/**
 * What starts the server that belongs to this bridge, seen from the folder of its program: in a checkout the command
 * behind `npm start`, else the program of the server package beside this one. Undefined where there is neither.
 */
export function findServer(from: URL, node: string): Command | undefined {
  const candidates = [['../../scripts/run.mjs', 'start'], ['../../server/bin/causeway.js']] as const
  for (const [path, ...args] of candidates) {
    const file = fileURLToPath(new URL(path, from))
    if (existsSync(file)) return { file: node, args: [file, ...args], shell: false }
  }
  return undefined
}

/** A command that the user gave. */
export const shellCommand = (line: string): Command => ({ file: line, args: [], shell: true })

/**
 * The environment of the server: its port, and the working directory as its root where the user named none. Without
 * the bridge's own settings, and without npm's: a server that finds those ends with the npm that it thinks is above.
 */
export function serverEnvironment(env: NodeJS.ProcessEnv, port: string, cwd: string): NodeJS.ProcessEnv {
  const own = new Set<string | undefined>(
    Object.values(options).flatMap((option) => ('env' in option ? [option.env] : [])),
  )
  // The token is one for both ends.
  own.delete(options['token-file'].env)
  const kept = Object.entries(env).filter(([name]) => !own.has(name) && !/^npm_/i.test(name))
  return { CAUSEWAY_ROOTS: cwd, ...Object.fromEntries(kept), MCP_SERVER_PORT: port }
}
