/** Returns `undefined` for malformed text. */
export function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'))
  } catch {
    return undefined
  }
}

/** JSON.stringify recurses and fails at several thousand levels. */
export function stringify(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return write(value, Object.entries)
  }
}

class Token {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Sorts the members of objects. */
export const canonicalJson = (value: unknown): string =>
  write(value, (members) => Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)))

function write(root: unknown, getMembers: (value: object) => [string, unknown][]): string {
  const texts: string[] = []
  const pending: unknown[] = [root]
  while (pending.length > 0) {
    const value = pending.pop()
    if (value instanceof Token) texts.push(value.text)
    else if (typeof value !== 'object' || value === null) texts.push(JSON.stringify(value ?? null))
    else {
      const isArray = Array.isArray(value)
      const members = isArray ? Object.entries(value) : getMembers(value)
      texts.push(isArray ? '[' : '{')
      pending.push(new Token(isArray ? ']' : '}'))
      // The last member is stored first: `pending` is a stack.
      for (const [at, [name, member]] of [...members.entries()].reverse()) {
        pending.push(member)
        pending.push(new Token(`${at === 0 ? '' : ','}${isArray ? '' : `${JSON.stringify(name)}:`}`))
      }
    }
  }
  return texts.join('')
}
