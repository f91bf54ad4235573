const units = ['B', 'kB', 'MB', 'GB', 'TB']

/** Bytes as a person says them, in steps of 1000: `0 B`, `1.5 MB`. */
export function byteText(bytes: number): string {
  const step = Math.min(units.length - 1, Math.max(0, Math.floor(Math.log10(Math.max(1, bytes)) / 3)))
  const value = bytes / 1000 ** step
  return `${step === 0 ? value : value.toFixed(1)} ${units[step]}`
}
