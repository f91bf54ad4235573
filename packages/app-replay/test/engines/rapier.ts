import RAPIER from '@dimforge/rapier3d-compat'
import { recordRapier } from '../../../../recorders/js/rapier.js'
import {
  density,
  dt,
  type Engine,
  type EngineScene,
  friction,
  gravity,
  half,
  links,
  listHeights,
  openSink,
} from './scene.ts'

await RAPIER.init()

export const rapier: Engine = {
  name: 'Rapier',
  contactLaw: 'contact_momentum',
  simulate(file, scene) {
    const world = new RAPIER.World({ x: 0, y: -gravity, z: 0 })
    world.timestep = dt
    const floor = world.createRigidBody(RAPIER.RigidBodyDesc.fixed().setTranslation(0, -half.box, 0))
    world.createCollider(RAPIER.ColliderDesc.cuboid(20, half.box, 20).setFriction(friction), floor)
    const boxes = listHeights(scene, 0).map((height) =>
      addBox(world, [0, height], [half.box, half.box], RAPIER.RigidBodyDesc.dynamic()),
    )
    boxes[0]?.setLinvel({ x: scene.slide ?? 0, y: 0, z: 0 }, true)
    const last = addModel(world, scene) ?? boxes.at(-1)
    const recorder = recordRapier(world, openSink(file))
    for (let step = 1; step <= scene.steps; step++) {
      const velocity = last?.linvel()
      if (step === scene.kick && velocity !== undefined)
        last?.setLinvel({ x: velocity.x * 1.01, y: velocity.y * 1.01, z: velocity.z * 1.01 }, true)
      world.step()
      recorder.step()
    }
    recorder.close()
    world.free()
  },
}

function addBox(
  world: RAPIER.World,
  [x, y]: readonly [number, number],
  [long, thin]: readonly [number, number],
  kind: RAPIER.RigidBodyDesc,
): RAPIER.RigidBody {
  const body = world.createRigidBody(kind.setTranslation(x, y, 0))
  const shape = RAPIER.ColliderDesc.cuboid(long, thin, thin)
  world.createCollider(shape.setFriction(friction).setDensity(density), body)
  return body
}

function addModel(world: RAPIER.World, { model }: EngineScene): RAPIER.RigidBody | undefined {
  if (model === undefined) return undefined
  const { fixed, dynamic } = RAPIER.RigidBodyDesc
  const base = addBox(world, [0, model.height], [half.base, half.base], model.isFixed ? fixed() : dynamic())
  let parent = base
  for (const { centre, offset } of links) {
    const link = addBox(world, [centre, model.height], [half.link.long, half.link.thin], dynamic())
    const [one, two] = [offset.parent, offset.child].map((x) => ({ x, y: 0, z: 0 }))
    const hinge = RAPIER.JointData.revolute(
      one ?? RAPIER.VectorOps.zeros(),
      two ?? RAPIER.VectorOps.zeros(),
      { x: 0, y: 0, z: 1 },
    )
    world.createImpulseJoint(hinge, parent, link, true).setContactsEnabled(false)
    parent = link
  }
  parent.setAngvel({ x: 0, y: 0, z: model.spin }, true)
  return parent
}
