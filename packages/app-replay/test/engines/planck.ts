import { recordPlanck } from '../../../../recorders/js/planck.js'
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

/** Distance at which planck lets surfaces rest: twice the skin, minus the overlap that it allows. */
const restingGap = 0.015

// biome-ignore lint/suspicious/noExplicitAny: the package is fetched for the tests and has no types here
type Planck = any

export function createPlanck(planck: Planck): Engine {
  const { Vec2 } = planck
  const addBox = (
    world: Planck,
    x: number,
    y: number,
    [long, thin]: readonly number[],
    type: string,
  ): Planck => {
    const body = world.createBody({ type, position: new Vec2(x, y) })
    body.createFixture({ shape: new planck.Box(long, thin), friction, density })
    return body
  }
  const addModel = (world: Planck, { model }: EngineScene): Planck => {
    if (model === undefined) return undefined
    const { height } = model
    let parent = addBox(world, 0, height, [half.base, half.base], model.isFixed ? 'static' : 'dynamic')
    for (const { hinge, centre } of links) {
      const link = addBox(world, centre, height, [half.link.long, half.link.thin], 'dynamic')
      world.createJoint(new planck.RevoluteJoint({}, parent, link, new Vec2(hinge, height)))
      parent = link
    }
    parent.setAngularVelocity(model.spin)
    return parent
  }
  return {
    name: 'planck',
    contactLaw: 'contact_momentum',
    simulate(file, scene) {
      const world = new planck.World({ gravity: new Vec2(0, -gravity) })
      addBox(world, 0, -half.box, [20, half.box], 'static')
      const boxes = listHeights(scene, restingGap).map((height) =>
        addBox(world, 0, height, [half.box, half.box], 'dynamic'),
      )
      boxes[0]?.setLinearVelocity(new Vec2(scene.slide ?? 0, 0))
      const last = addModel(world, scene) ?? boxes.at(-1)
      const recorder = recordPlanck(world, openSink(file), { dt })
      for (let step = 1; step <= scene.steps; step++) {
        if (step === scene.kick) last.setLinearVelocity(last.getLinearVelocity().clone().mul(1.01))
        world.step(dt)
        recorder.step()
      }
      recorder.close()
    },
  }
}
