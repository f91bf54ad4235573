/** Figures with as many digits as they are worth: a millimetre, a ten-thousandth of a degree or of a knot. */

const decimals: Readonly<Record<string, number>> = { m: 3, nm: 6, deg: 4, kn: 4, s: 3 }

/** The same data with the numbers rounded whose names end in `_m`, `_nm`, `_deg`, `_kn` or `_s`. */
export function legible<T>(value: T): T {
  return clean(value, '') as T
}

function clean(value: unknown, name: string): unknown {
  if (Array.isArray(value)) return value.map((item) => clean(item, ''))
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, clean(member, key)]))
  if (typeof value !== 'number' || !Number.isFinite(value)) return value
  const places = decimals[/_([a-z]+)$/.exec(name)?.[1] ?? '']
  return places === undefined ? value : Number(value.toFixed(places))
}
