const units = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
  ['s', 1],
] as const

/** Seconds as a person says them, in their two greatest units: `2 d 3 h`, `45 s`. */
export function duration(seconds: number): string {
  let rest = Math.max(0, Math.round(seconds))
  const at = units.findIndex(([, size]) => rest >= size)
  const parts = units.slice(at === -1 ? units.length - 1 : at).map(([unit, size]) => {
    const count = Math.floor(rest / size)
    rest -= count * size
    return [count, unit] as const
  })
  const told = parts.slice(0, 2).filter(([count], index) => index === 0 || count > 0)
  return told.map(([count, unit]) => `${count} ${unit}`).join(' ')
}
