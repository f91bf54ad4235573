import type { AppFailure } from '../host/user-apps.ts'

export interface StartedServer {
  readonly url: string
  readonly apps: readonly { readonly name: string; readonly tools: number }[]
  readonly failures: readonly AppFailure[]
  readonly recordingRoots: readonly string[]
  readonly plotRoots: readonly string[]
  readonly dataDir: string
}

export function formatWelcome(server: StartedServer, env: NodeJS.ProcessEnv): string {
  const { url, apps, failures, recordingRoots, plotRoots, dataDir } = server
  const program = getProgramName(env)
  const tools = apps.reduce((sum, app) => sum + app.tools, 0)
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ['apps', [`${apps.map((app) => `${app.name} ${app.tools}`).join(', ')}: ${tools} tools`]],
    ['failed', failures.map(({ name, error }) => `${name}: ${error.message}; ${error.remedy}`)],
    ['recordings', recordingRoots],
    ['plots', plotRoots],
    ['data', [dataDir]],
    ['console', [`${url}/ in a browser`]],
    ['connect', [`claude mcp add --transport http causeway ${url}/mcp`]],
    ['try', [`${program} call replay list_recordings`]],
    ['stop', ['press Ctrl-C']],
  ]
  const lines = rows.flatMap(([label, values]) =>
    values.map((value, index) => `  ${(index === 0 ? label : '').padEnd(11)} ${value}`),
  )
  return `\nCauseway is ready at ${url}\n\n${lines.join('\n')}\n\n`
}

const getProgramName = (env: NodeJS.ProcessEnv): string =>
  env.npm_lifecycle_event === 'start' && env.npm_package_name === 'causeway-workspace'
    ? 'npm start -s --'
    : 'causeway'

/**
 * Replaces the program in advice such as `run causeway stop`, but not the app in `causeway call causeway
 * list_apps`.
 */
export function adviseCommand(text: string, env: NodeJS.ProcessEnv): string {
  const program = getProgramName(env)
  if (program === 'causeway') return text
  return text
    .replaceAll(/(?<![\w./\\-])causeway serve\b(?! [-[])/g, 'npm start')
    .replaceAll(commandPattern, `${program} `)
}

const commandNames =
  'call|tools|init|connect|mcp|status|stop|logs|doctor|config|roots|backup|restore|data|install-service|completion|serve'

/** Matches the start of a command line, but not "the entry causeway of .mcp.json". */
const commandPattern = new RegExp(
  `(?<![\\w./\\\\-]|\\b(?:call|tools) )causeway (?=(?:${commandNames}|<command>|--?[a-z]+)(?![\\w-]))`,
  'g',
)
