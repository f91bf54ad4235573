import { recordCannon } from '../../../../recorders/js/cannon.js'
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

// biome-ignore lint/suspicious/noExplicitAny: the package is fetched for the tests and has no types here
type Cannon = any

export function createCannon(cannon: Cannon): Engine {
  const { Vec3 } = cannon
  const addBox = (
    world: Cannon,
    x: number,
    y: number,
    [long = 0, thin = 0]: readonly number[],
    mass: number,
  ): Cannon => {
    const shape = new cannon.Box(new Vec3(long, thin, thin))
    const body = new cannon.Body({ mass, shape, position: new Vec3(x, y, 0) })
    world.addBody(body)
    return body
  }
  const addModel = (world: Cannon, { model }: EngineScene): Cannon => {
    if (model === undefined) return undefined
    const { base, link } = half
    let parent = addBox(world, 0, model.height, [base, base], model.isFixed ? 0 : 8 * base ** 3 * density)
    for (const { centre, offset } of links) {
      const child = addBox(
        world,
        centre,
        model.height,
        [link.long, link.thin],
        8 * link.long * link.thin ** 2 * density,
      )
      const [pivotA, pivotB] = [new Vec3(offset.parent, 0, 0), new Vec3(offset.child, 0, 0)]
      const constraint = new cannon.PointToPointConstraint(parent, pivotA, child, pivotB)
      constraint.collideConnected = false
      world.addConstraint(constraint)
      parent = child
    }
    parent.angularVelocity.set(0, 0, model.spin)
    return parent
  }
  return {
    name: 'cannon-es',
    contactLaw: 'friction_momentum',
    simulate(file, scene) {
      const world = new cannon.World({ gravity: new Vec3(0, -gravity, 0) })
      world.defaultContactMaterial.friction = friction
      world.solver.iterations = 50
      const floor = new cannon.Body({ mass: 0, shape: new cannon.Plane() })
      floor.quaternion.setFromEuler(-Math.PI / 2, 0, 0)
      world.addBody(floor)
      const boxes = listHeights(scene, 0).map((height) =>
        addBox(world, 0, height, [half.box, half.box], density),
      )
      boxes[0]?.velocity.set(scene.slide ?? 0, 0, 0)
      const last = addModel(world, scene) ?? boxes.at(-1)
      const recorder = recordCannon(world, openSink(file), { dt })
      for (let step = 1; step <= scene.steps; step++) {
        if (step === scene.kick) last.velocity.scale(1.01, last.velocity)
        world.step(dt)
        recorder.step()
      }
      recorder.close()
    },
  }
}
