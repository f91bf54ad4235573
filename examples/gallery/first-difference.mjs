/** A pyramid of boxes that a ball hits, in Rapier; the boxes are created in one order or the other. Usage: node first-difference.mjs <name> [reverse] */
import RAPIER from '@dimforge/rapier3d-compat'
import { recordRapier } from '../../recorders/js/rapier.js'
import { record } from './send.mjs'

const [name, order] = process.argv.slice(2)
await RAPIER.init()
const world = new RAPIER.World({ x: 0, y: -9.81, z: 0 })
world.createCollider(RAPIER.ColliderDesc.cuboid(20, 0.5, 20).setTranslation(0, -0.5, 0))
const places = [0, 1, 2, 3].flatMap((row) =>
  Array.from({ length: 4 - row }, (_, i) => [1.05 * (i - (3 - row) / 2), 0.6 + 1.1 * row]),
)
const boxes = places.map(([x, y]) =>
  world.createRigidBody(RAPIER.RigidBodyDesc.dynamic().setCanSleep(false).setTranslation(x, y, 0)),
)
if (order === 'reverse') boxes.reverse()
for (const box of boxes) world.createCollider(RAPIER.ColliderDesc.cuboid(0.5, 0.5, 0.5), box)
const ball = world.createRigidBody(
  RAPIER.RigidBodyDesc.dynamic().setCanSleep(false).setTranslation(-6, 1.5, 0).setLinvel(12, 1, 0),
)
world.createCollider(RAPIER.ColliderDesc.ball(0.4).setDensity(5), ball)
const line = await record(name, (write) => {
  const recorder = recordRapier(world, write)
  for (let step = 0; step < 240; step++) {
    world.step()
    recorder.step()
  }
  recorder.close()
})
process.stdout.write(line)
