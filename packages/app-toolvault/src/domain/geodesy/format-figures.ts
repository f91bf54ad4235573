import { normalizeLongitude } from '@causeway/plot'
import { type LatLon, metresPerNauticalMile } from './geodesic.ts'
import type { RangeUnit } from './range-bearing.ts'

/** Returns a text such as `022°T`. */
export const formatBearing = (degrees: number): string => `${padDegrees(Math.round(degrees) % 360)}°T`

/** Returns a text such as `Red 045°` (port, negative), `Green 120°`, `ahead` or `astern`. */
export function formatBowAngle(degrees: number): string {
  const angle = Math.round(Math.abs(degrees))
  if (angle === 0) return 'ahead'
  if (angle === 180) return 'astern'
  return `${degrees < 0 ? 'Red' : 'Green'} ${padDegrees(angle)}°`
}

const padDegrees = (degrees: number): string => String(degrees).padStart(3, '0')

/** Returns a text such as `36°07.077′N 004°51.270′W`. */
export function formatPosition({ lat, lon: unwrapped }: LatLon): string {
  const lon = normalizeLongitude(unwrapped)
  return `${formatAngle(lat, 2)}${lat < 0 ? 'S' : 'N'} ${formatAngle(lon, 3)}${lon < 0 ? 'W' : 'E'}`
}

/** Formats minutes with three decimals (about 2 m). */
function formatAngle(angle: number, digits: number): string {
  const thousandthsOfMinute = Math.round(Math.abs(angle) * 60_000)
  const minutes = ((thousandthsOfMinute % 60_000) / 1000).toFixed(3).padStart(6, '0')
  return `${String(Math.floor(thousandthsOfMinute / 60_000)).padStart(digits, '0')}°${minutes}′`
}

export function formatRangeIn(range: number, unit: RangeUnit): string {
  if (unit === 'm' || unit === 'yd') return `${range.toFixed(range < 100 ? 1 : 0)} ${unit}`
  return `${range.toFixed(range < 100 ? 3 : 1)} ${unit}`
}

export function formatRange(metres: number): string {
  if (metres < metresPerNauticalMile) return `${metres.toFixed(metres < 10 ? 1 : 0)} m`
  const miles = metres / metresPerNauticalMile
  return `${miles.toFixed(miles < 9.995 ? 2 : miles < 99.95 ? 1 : 0)} nm`
}
