/** Frames per second. */
export const fps = 60

const bodies = 20
const g = 9.81

/** In this frame, the velocity of body 7 changes by -3 m/s without a cause. */
export const kick = { frame: 200, body: 7, speed: -3 }

const ids = Array.from({ length: bodies }, (_, i) => i + 1)

export const runLine = JSON.stringify({
  run: {
    gravity: [0, 0, -g],
    dt: 1 / fps,
    bodies: ids.map((id) => ({ id, mass: id, half_extents: [0.1, 0.1, 0.1] })),
  },
})

/**
 * Returns the line of a frame: bodies in free fall by semi-implicit Euler, v(k) = -g k dt, z(k) = dt (v(1) + … +
 * v(k)).
 */
export function frameLine(frame: number): string {
  const dt = 1 / fps
  const fallen = (id: number) => {
    const after = id === kick.body ? Math.max(0, frame - kick.frame + 1) : 0
    const vz = -g * frame * dt + (after > 0 ? kick.speed : 0)
    const z = (-g * dt * dt * frame * (frame + 1)) / 2 + kick.speed * dt * after
    return {
      id,
      position: [10 * id, 0, z],
      velocity: [0, 0, vz],
      orientation: [1, 0, 0, 0],
      angular_velocity: [0, 0, 0],
    }
  }
  return JSON.stringify({ frame_id: frame, time: frame * dt, bodies: ids.map(fallen), contacts: [] })
}
