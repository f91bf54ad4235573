/** The same data with NaN and the infinities as null, which is all that JSON can say of them; copies only what changes. */
export function finite<T>(value: T): T {
  return clean(value) as T
}

function clean(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return cleanArray(value)
  if (typeof value !== 'object' || value === null) return value
  return cleanObject(value as Record<string, unknown>)
}

function cleanArray(values: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined
  for (const [index, value] of values.entries()) {
    const cleaned = clean(value)
    if (cleaned === value) continue
    copy ??= [...values]
    copy[index] = cleaned
  }
  return copy ?? values
}

function cleanObject(value: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined
  for (const [key, member] of Object.entries(value)) {
    const cleaned = clean(member)
    if (cleaned === member) continue
    copy ??= { ...value }
    copy[key] = cleaned
  }
  return copy ?? value
}
