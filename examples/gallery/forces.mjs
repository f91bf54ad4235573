/** A box that slides on a floor, in cannon-es. Usage: node forces.mjs [name] */
import { Body, Box, ContactMaterial, Material, Plane, Vec3, World } from 'cannon-es'
import { recordCannon } from '../../recorders/js/cannon.js'
import { record } from './send.mjs'

const [name = 'forces'] = process.argv.slice(2)
const world = new World({ gravity: new Vec3(0, 0, -9.81) })
const material = new Material()
world.addContactMaterial(new ContactMaterial(material, material, { friction: 0.5, restitution: 0 }))
world.addBody(new Body({ mass: 0, material, shape: new Plane() }))
const crate = new Body({
  mass: 1,
  material,
  shape: new Box(new Vec3(0.5, 0.5, 0.25)),
  position: new Vec3(0, 0, 0.25),
})
world.addBody(crate)
crate.velocity.set(3, 0, 0)
const line = await record(name, (write) => {
  const recorder = recordCannon(world, write, { dt: 1 / 60 })
  for (let step = 0; step < 120; step++) {
    world.step(1 / 60)
    recorder.step()
  }
  recorder.close()
})
process.stdout.write(line)
