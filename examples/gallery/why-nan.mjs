/** A crate between a floor and a ceiling that are too stiff for the time step, in MuJoCo. Usage: node why-nan.mjs [name] [solref] */
import load from 'mujoco-js'
import { recordMujoco } from '../../recorders/js/mujoco.js'
import { record } from './send.mjs'

const [name = 'why-nan', solref = '-50000 -1'] = process.argv.slice(2)
const warnings = []
const mujoco = await load({ print: (line) => warnings.push(line), printErr: (line) => warnings.push(line) })
mujoco.FS.writeFile(
  '/crate.xml',
  `<mujoco><option timestep="0.01"/><worldbody>
     <geom type="plane" size="5 5 0.1" solref="${solref}"/>
     <geom type="plane" pos="0 0 1" zaxis="0 0 -1" size="5 5 0.1" solref="${solref}"/>
     <body name="crate" pos="0 0 0.5" euler="10 0 0"><freejoint/>
       <geom type="box" size="0.2 0.2 0.2" mass="2" solref="${solref}"/></body></worldbody></mujoco>`,
)
const model = mujoco.MjModel.loadFromXML('/crate.xml')
const data = new mujoco.MjData(model)
const line = await record(name, (write) => {
  const recorder = recordMujoco(mujoco, model, data, write)
  for (let step = 0; step < 300; step++) {
    mujoco.mj_step(model, data)
    if (warnings.length > 0) break
    recorder.step()
  }
  recorder.close()
})
process.stdout.write(line)
for (const warning of warnings.filter((text) => text.trim() !== ''))
  process.stdout.write(`${warning.trim()}\n`)
