import type { Quaternion, Value, Vector } from '../types.ts'

/** Returns 2 vec(conj(q) dq/dt) in rad/s in the body frame; null if a component is missing. */
export function angularVelocity(q: Quaternion, rate: Quaternion): Vector | null {
  if (!isWhole(q) || !isWhole(rate)) return null
  return {
    x: 2 * (q.w * rate.x - q.x * rate.w - q.y * rate.z + q.z * rate.y),
    y: 2 * (q.w * rate.y + q.x * rate.z - q.y * rate.w - q.z * rate.x),
    z: 2 * (q.w * rate.z - q.x * rate.y + q.y * rate.x - q.z * rate.w),
  }
}

type Whole = Readonly<Record<'w' | 'x' | 'y' | 'z', number>>

function isWhole(q: Readonly<Record<'w' | 'x' | 'y' | 'z', Value>>): q is Whole {
  return q.w !== null && q.x !== null && q.y !== null && q.z !== null
}
