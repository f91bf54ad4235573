/** Returns `undefined` for malformed text. */
export function parseJson(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString('utf8'))
  } catch {
    return undefined
  }
}

/** Supports any depth. `JSON.stringify` recurses and fails at several thousand levels. */
export function stringify(value: unknown): string {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return write(value, Object.entries)
  }
}

export const toCanonicalJson = (value: unknown): string =>
  write(value, (members) => Object.entries(members).sort(([a], [b]) => (a < b ? -1 : 1)))

function write(root: unknown, getMembers: (value: object) => [string, unknown][]): string {
  const texts: string[] = []
  const pending: ({ readonly text: string } | { readonly value: unknown })[] = [{ value: root }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop())
    if ('text' in next) texts.push(next.text)
    else if (typeof next.value !== 'object' || next.value === null)
      texts.push(JSON.stringify(next.value ?? null))
    else {
      const { value } = next
      const isArray = Array.isArray(value)
      const members = isArray ? Object.entries(value) : getMembers(value)
      texts.push(isArray ? '[' : '{')
      pending.push({ text: isArray ? ']' : '}' })
      // In reverse order, because `pending` is a stack.
      for (const [at, [name, member]] of [...members.entries()].reverse()) {
        pending.push({ value: member })
        pending.push({ text: `${at === 0 ? '' : ','}${isArray ? '' : `${JSON.stringify(name)}:`}` })
      }
    }
  return texts.join('')
}
