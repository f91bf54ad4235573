import { variables } from '../settings/options.ts'

export interface Started {
  readonly node: string
  readonly script: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** Returns the commands that connect a client. Omits header values, which may be secrets. */
export function clientLines({ node, script, args, env }: Started): string {
  const command = [node, script, ...withoutSecrets(args)]
  const set = Object.fromEntries(
    [...variables, 'CAUSEWAY_SESSION'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  // `-e` takes all following arguments, so the server's name precedes it.
  const flags = Object.entries(set).map(([name, value]) => ` -e ${quote(`${name}=${value}`)}`)
  const [program, ...rest] = command
  const server = { type: 'stdio', command: program, args: rest, env: set }
  return [
    'Claude Code:',
    `  claude mcp add causeway${flags.join('')} -- ${command.map(quote).join(' ')}`,
    '',
    'or .mcp.json in a project folder (other clients use the same object):',
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

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
