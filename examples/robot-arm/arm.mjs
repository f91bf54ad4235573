/** An arm that a push rod drives, in MuJoCo. Usage: node arm.mjs <name of the recording> [solref of the loop] */
import load from 'mujoco-js'
import { recordMujoco } from '../../recorders/js/mujoco.js'

const server = process.env.CAUSEWAY_URL ?? 'http://localhost:3100'
const [name, solref = '0.1 1'] = process.argv.slice(2)
const mujoco = await load()
mujoco.FS.writeFile(
  '/arm.xml',
  `<mujoco><option timestep="0.002"/><worldbody>
     <body name="upper arm" pos="0 0 1"><joint name="shoulder" axis="0 1 0" damping="20"/>
       <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.03" mass="1"/>
       <body name="forearm" pos="0.4 0 0"><joint name="elbow" axis="0 1 0" damping="0.1"/>
         <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="2"/></body></body>
     <body name="push rod" pos="0 0 0.9"><joint name="crank" axis="0 1 0"/>
       <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.01" mass="0.2"/></body></worldbody>
   <contact><exclude body1="upper arm" body2="push rod"/><exclude body1="forearm" body2="push rod"/></contact>
   <equality><connect body1="push rod" body2="forearm" anchor="0.4 0 0" solref="${solref}"/></equality>
   <actuator><position joint="shoulder" kp="500"/></actuator></mujoco>`,
)
const model = mujoco.MjModel.loadFromXML('/arm.xml')
const data = new mujoco.MjData(model)
const parts = []
const recorder = recordMujoco(mujoco, model, data, (bytes) => parts.push(bytes))
for (let step = 0; step < 1000; step++) {
  data.ctrl[0] = -0.5 * Math.sin(step * 0.005)
  mujoco.mj_step(model, data)
  recorder.step()
}
recorder.close()

const run = `${server}/api/apps/replay/recordings/${name}`
const headers = { 'Content-Type': 'application/x-mcap' }
const sent = await fetch(`${run}/frames`, { method: 'POST', headers, body: new Blob(parts) })
if (!sent.ok) throw new Error(await sent.text())
const finished = await fetch(`${run}/finish`, { method: 'POST' })
console.log(`${name}: ${(await finished.json()).total_frames} frames`)
