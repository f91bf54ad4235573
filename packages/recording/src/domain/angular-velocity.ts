import type { Quaternion, Value, Vector } from '../types.ts'

/** Returns 2 vec(conj(q) dq/dt) in rad/s in the body frame; null if a component is missing. */
export function computeAngularVelocity(q: Quaternion, rate: Quaternion): Vector | null {
  if (!isComplete(q) || !isComplete(rate)) return null
  return {
    x: 2 * (q.w * rate.x - q.x * rate.w - q.y * rate.z + q.z * rate.y),
    y: 2 * (q.w * rate.y + q.x * rate.z - q.y * rate.w - q.z * rate.x),
    z: 2 * (q.w * rate.z - q.x * rate.y + q.y * rate.x - q.z * rate.w),
  }
}

type CompleteQuaternion = Readonly<Record<'w' | 'x' | 'y' | 'z', number>>

function isComplete(q: Readonly<Record<'w' | 'x' | 'y' | 'z', Value>>): q is CompleteQuaternion {
  return q.w !== null && q.x !== null && q.y !== null && q.z !== null
}
