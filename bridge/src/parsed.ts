/** The JSON value of a line, undefined where it is none. */
export function parsed(line: Buffer): unknown {
  try {
    return JSON.parse(line.toString('utf8'))
  } catch {
    return undefined
  }
}
