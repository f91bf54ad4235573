import { variables } from '../settings/options.ts'

export interface BridgeProcess {
  readonly node: string
  readonly script: string
  readonly args: readonly string[]
  readonly env: NodeJS.ProcessEnv
}

/** Returns commands without header values, which may be secrets. */
export function formatClientCommands({ node, script, args, env }: BridgeProcess): string {
  const command = [node, script, ...omitSecrets(args)]
  const usedVariables = Object.fromEntries(
    [...variables, 'CAUSEWAY_SESSION'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  )
  // `-e` takes all following arguments, so the server's name precedes it.
  const flags = Object.entries(usedVariables).map(([name, value]) => ` -e ${quote(`${name}=${value}`)}`)
  const [program, ...rest] = command
  const server = { type: 'stdio', command: program, args: rest, env: usedVariables }
  return [
    'Claude Code:',
    `  claude mcp add causeway${flags.join('')} -- ${command.map(quote).join(' ')}`,
    '',
    'or .mcp.json in a project folder (other clients use the same object):',
    JSON.stringify({ mcpServers: { causeway: server } }, undefined, 2).replace(/^/gm, '  '),
    '',
  ].join('\n')
}

const omitSecrets = (args: readonly string[]): string[] =>
  args
    .filter((arg) => arg !== '--doctor')
    .map((arg, index, allArgs) => {
      const [, flag = '', field = ''] =
        /^(--header=)(.*)$/s.exec(arg) ?? (allArgs[index - 1] === '--header' ? ['', '', arg] : [])
      return field === '' ? arg : `${flag}${field.split(':')[0]}: <value>`
    })

const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
