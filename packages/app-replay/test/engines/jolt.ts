import { recordJolt } from '../../../../recorders/js/jolt.js'
import {
  density,
  dt,
  type Engine,
  type EngineScene,
  friction,
  half,
  links,
  listHeights,
  openSink,
} from './scene.ts'

// biome-ignore lint/suspicious/noExplicitAny: the package is fetched for the tests and has no types here
type JoltModule = any

const [fixedLayer, movingLayer] = [0, 1]

export function createJolt(Jolt: JoltModule): Engine {
  const addBox = (
    jolt: JoltModule,
    [x = 0, y = 0]: readonly number[],
    [long = 0, thin = 0]: readonly number[],
    isFixed: boolean,
  ): JoltModule => {
    const shape = new Jolt.BoxShape(new Jolt.Vec3(long, thin, thin), 0)
    shape.SetDensity(density)
    const settings = new Jolt.BodyCreationSettings(
      shape,
      new Jolt.RVec3(x, y, 0),
      new Jolt.Quat(0, 0, 0, 1),
      isFixed ? Jolt.EMotionType_Static : Jolt.EMotionType_Dynamic,
      isFixed ? fixedLayer : movingLayer,
    )
    settings.mFriction = friction
    const bodies = jolt.GetPhysicsSystem().GetBodyInterface()
    const body = bodies.CreateBody(settings)
    bodies.AddBody(body.GetID(), isFixed ? Jolt.EActivation_DontActivate : Jolt.EActivation_Activate)
    Jolt.destroy(settings)
    return body
  }
  const addModel = (jolt: JoltModule, { model }: EngineScene) => {
    if (model === undefined) return { constraints: [] }
    const constraints: JoltModule[] = []
    const filter = new Jolt.GroupFilterTable(1 + links.length)
    const bodies = [addBox(jolt, [0, model.height], [half.base, half.base], model.isFixed)]
    for (const [index, { hinge, centre }] of links.entries()) {
      const link = addBox(jolt, [centre, model.height], [half.link.long, half.link.thin], false)
      const settings = new Jolt.HingeConstraintSettings()
      settings.mPoint1 = settings.mPoint2 = new Jolt.RVec3(hinge, model.height, 0)
      settings.mHingeAxis1 = settings.mHingeAxis2 = new Jolt.Vec3(0, 0, 1)
      settings.mNormalAxis1 = settings.mNormalAxis2 = new Jolt.Vec3(1, 0, 0)
      const constraint = settings.Create(bodies.at(-1), link)
      jolt.GetPhysicsSystem().AddConstraint(constraint)
      constraints.push(Jolt.castObject(constraint, Jolt.TwoBodyConstraint))
      filter.DisableCollision(index, index + 1)
      bodies.push(link)
    }
    for (const [index, body] of bodies.entries()) {
      body.GetCollisionGroup().SetGroupFilter(filter)
      body.GetCollisionGroup().SetGroupID(0)
      body.GetCollisionGroup().SetSubGroupID(index)
    }
    const last = bodies.at(-1)
    last.SetAngularVelocity(new Jolt.Vec3(0, 0, model.spin))
    return { constraints, last }
  }
  return {
    name: 'Jolt',
    contactLaw: 'penetration',
    simulate(file, scene) {
      const jolt = openJolt(Jolt)
      addBox(jolt, [0, -10], [20, 10], true)
      const boxes = listHeights(scene, 0).map((height) =>
        addBox(jolt, [0, height], [half.box, half.box], false),
      )
      if (scene.slide !== undefined) boxes[0]?.SetLinearVelocity(new Jolt.Vec3(scene.slide, 0, 0))
      const { constraints, last = boxes.at(-1) } = addModel(jolt, scene)
      const recorder = recordJolt(Jolt, jolt, openSink(file), { dt, constraints })
      for (let step = 1; step <= scene.steps; step++) {
        if (step === scene.kick) {
          const velocity = last.GetLinearVelocity()
          const [x, y, z] = [velocity.GetX(), velocity.GetY(), velocity.GetZ()]
          last.SetLinearVelocity(new Jolt.Vec3(x * 1.01, y * 1.01, z * 1.01))
        }
        jolt.Step(dt, 1)
        recorder.step()
      }
      recorder.close()
      Jolt.destroy(jolt)
    },
  }
}

function openJolt(Jolt: JoltModule): JoltModule {
  const settings = new Jolt.JoltSettings()
  const pairs = new Jolt.ObjectLayerPairFilterTable(2)
  pairs.EnableCollision(fixedLayer, movingLayer)
  pairs.EnableCollision(movingLayer, movingLayer)
  const phases = new Jolt.BroadPhaseLayerInterfaceTable(2, 2)
  const layers = [fixedLayer, movingLayer].map((layer) => {
    const phase = new Jolt.BroadPhaseLayer(layer)
    phases.MapObjectToBroadPhaseLayer(layer, phase)
    return phase
  })
  settings.mObjectLayerPairFilter = pairs
  settings.mBroadPhaseLayerInterface = phases
  settings.mObjectVsBroadPhaseLayerFilter = new Jolt.ObjectVsBroadPhaseLayerFilterTable(
    phases,
    layers.length,
    pairs,
    2,
  )
  const jolt = new Jolt.JoltInterface(settings)
  Jolt.destroy(settings)
  return jolt
}
