/** Quotes a word for a POSIX shell, if necessary. */
export const quote = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`

export function toCurl(url: string, args: unknown): string {
  const json = JSON.stringify(args)
  return `curl -s ${quote(url)} -H 'Content-Type: application/json' -d ${quote(json)}`
}

/** Returns the command line that calls a tool: `causeway call Replay__get_frame recording=drop frame_id=42`. */
export function toCommandLine(app: string, tool: string, args: unknown): string {
  const words = Object.entries((args ?? {}) as Record<string, unknown>).map(([name, value]) =>
    quote(`${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`),
  )
  return ['causeway call', `${app}__${tool}`, ...words].join(' ')
}
