/** About how many bytes plain data takes in memory: numbers 8, text a byte for each letter, and what holds them. */
export function dataBytes(data: unknown): number {
  if (typeof data === 'string') return 16 + data.length
  if (ArrayBuffer.isView(data)) return 64 + data.byteLength
  if (Array.isArray(data)) return data.reduce<number>((sum, one) => sum + dataBytes(one), 16)
  if (typeof data !== 'object' || data === null) return 8
  return Object.values(data).reduce<number>((sum, one) => sum + dataBytes(one), 24)
}
