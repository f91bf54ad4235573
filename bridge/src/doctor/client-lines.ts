import { options } from '../options.ts'

/** How this bridge was started: its own words are what a client has to say. */
export interface Started {
  /** The Node that runs it, and the script. */
  readonly node: string
  readonly script: string
  /** The arguments, `--doctor` among them. */
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** The `claude mcp add` line and the `.mcp.json` that start the bridge as it was started now; header values are left out. */
export function clientLines({ node, script, args, env }: Started): string {
  const command = [node, script, ...withoutSecrets(args)]
  const variables = Object.values(options).flatMap((option) => ('env' in option ? [option.env] : []))
  const set = Object.fromEntries(
    [...variables, 'CAUSEWAY_SESSION'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  // `-e` takes every word that follows, so the name stands before it.
  const flags = Object.entries(set).map(([name, value]) => ` -e ${quoted(`${name}=${value}`)}`)
  const [program, ...rest] = command
  const server = { type: 'stdio', command: program, args: rest, env: set }
  return [
    'Claude Code:',
    `  claude mcp add causeway${flags.join('')} -- ${command.map(quoted).join(' ')}`,
    '',
    'or .mcp.json in the folder of a project (other clients take the same object):',
    JSON.stringify({ mcpServers: { causeway: server } }, undefined, 2).replace(/^/gm, '  '),
    '',
  ].join('\n')
}

const withoutSecrets = (args: readonly string[]): string[] =>
  args
    .filter((arg) => arg !== '--doctor')
    .map((arg, at, all) => {
      const [, flag = '', field = ''] =
        /^(--header=)(.*)$/s.exec(arg) ?? (all[at - 1] === '--header' ? ['', '', arg] : [])
      return field === '' ? arg : `${flag}${field.split(':')[0]}: <value>`
    })

/** A word as a shell takes it. */
const quoted = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
