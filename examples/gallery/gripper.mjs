/** A gripper of two fingers lifts a box in MuJoCo. Usage: node gripper.mjs [name] [option of MuJoCo]... */
import load from 'mujoco-js'
import { recordMujoco } from '../../recorders/js/mujoco.js'
import { record } from './send.mjs'

const [name = 'gripper', ...options] = process.argv.slice(2)
const mujoco = await load({ print() {} })
const finger = (name, side) =>
  `<body name="${name}" pos="0 ${0.1 * side} -0.1"><joint name="${name}" type="slide" axis="0 ${-side} 0"/>
     <geom type="box" size="0.03 0.01 0.04" mass="0.2" friction="0.8"/></body>`
mujoco.FS.writeFile(
  '/gripper.xml',
  `<mujoco><option timestep="0.002" ${options.join(' ')}/><worldbody>
     <geom type="plane" size="2 2 0.1"/>
     <body name="hand" pos="0 0 0.2"><joint name="lift" type="slide" axis="0 0 1" damping="50"/>
       <geom type="box" size="0.05 0.12 0.02" mass="1"/>
       ${finger('left', 1)}${finger('right', -1)}</body>
     <body name="box" pos="0 0 0.05"><freejoint/><geom type="box" size="0.03 0.05 0.05" mass="0.5" friction="0.8"/></body>
   </worldbody>
   <actuator><motor joint="left"/><motor joint="right"/><position joint="lift" kp="2000"/></actuator></mujoco>`,
)
const model = mujoco.MjModel.loadFromXML('/gripper.xml')
const data = new mujoco.MjData(model)
const line = await record(name, (write) => {
  const recorder = recordMujoco(mujoco, model, data, write)
  for (let step = 1; step <= 1000; step++) {
    data.ctrl.set([15, 15, step > 200 ? Math.min(0.1, (step - 200) * 0.0002) : 0])
    mujoco.mj_step(model, data)
    recorder.step()
  }
  recorder.close()
})
process.stdout.write(line)
