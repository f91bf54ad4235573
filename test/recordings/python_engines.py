# cspell:ignore fromto xfrc qvel impratio freejoint worldbody kuka iiwa linvel urdf -- names of MuJoCo and PyBullet
"""Simulates scenes in MuJoCo and PyBullet, and records each with the two lines of the README. Usage: python_engines.py <folder>"""

import math
import sys

import causeway_recorder
import mujoco
import pybullet as p
import pybullet_data

folder = sys.argv[1]
HEIGHTS = (0.2, 0.6, 1.0, 1.4, 1.8)


def simulate_mujoco(name, bodies, steps=200, rest="", act=None, option='cone="elliptic" impratio="10"'):
    xml = f"""<mujoco><option timestep="0.005" {option}/><worldbody>
      <geom type="plane" size="9 9 1" friction="0.5"/>{bodies}</worldbody>{rest}</mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    rec = causeway_recorder.mujoco(model, data, path=f"{folder}/mujoco-{name}.mcap")
    for step in range(1, steps + 1):
        if act:
            act(step, data)
        mujoco.mj_step(model, data)
        rec.step()
    rec.close()


def box(z):
    return f'<body pos="0 0 {z}"><freejoint/><geom type="box" size="0.2 0.2 0.2" mass="2" friction="0.5"/></body>'


def leg(index, y):
    hinge = f'<joint name="hip{index}" type="hinge" axis="0 1 0" damping="0.2"/>'
    return f'<body pos="0 {y} -0.1">{hinge}<geom type="capsule" size="0.05 0.15" pos="0 0 -0.2" mass="0.8"/></body>'


walker = f"""<body pos="0 0 1"><freejoint/><geom type="box" size="0.2 0.12 0.1" mass="4"/>{leg(0, 0.1)}{leg(1, -0.1)}</body>"""
motors = '<actuator><motor joint="hip0" gear="3"/><motor joint="hip1" gear="3"/></actuator>'
arm = """<body pos="0 0 1"><joint type="hinge" axis="0 1 0" damping="0.2"/>
  <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.04" mass="1"/>
  <body pos="0.4 0 0"><joint type="hinge" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03" mass="0.5"/></body>
</body>"""


def push(step, data):
    if step == 1:
        data.qvel[0] = 2


def stride(step, data):
    data.ctrl[:] = math.sin(step / 20), -math.sin(step / 20)


def kick(step, data):
    if step == 50:
        data.qvel[:3] *= 1.01


def kick_leg(step, data):
    if step == 40:
        data.qvel[6] += 0.5


simulate_mujoco("rest", box(0.2))
simulate_mujoco("slide", box(0.2), act=push)
simulate_mujoco("slide-pyramidal", box(0.2), act=push, option="")
simulate_mujoco("stack", "".join(map(box, HEIGHTS)))
simulate_mujoco("walker", walker, rest=motors, act=stride)
simulate_mujoco("arm", arm)
simulate_mujoco("kick", box(3), steps=80, act=kick)
simulate_mujoco("kick-leg", walker, steps=60, act=kick_leg)


def simulate_pybullet(name, build, steps=300, act=None):
    p.connect(p.DIRECT)
    p.setGravity(0, 0, -9.81)
    p.setPhysicsEngineParameter(reportSolverAnalytics=1)
    floor = p.createMultiBody(0, p.createCollisionShape(p.GEOM_PLANE))
    p.changeDynamics(floor, -1, lateralFriction=1)
    body = build()
    rec = causeway_recorder.pybullet(p, path=f"{folder}/pybullet-{name}.mcap")
    for step in range(1, steps + 1):
        if act:
            act(step, body)
        rec.step(p.stepSimulation())
    rec.close()
    p.disconnect()


def boxes(*heights, velocity=(0, 0, 0), spin=(0, 0, 0)):
    shape = p.createCollisionShape(p.GEOM_BOX, halfExtents=[0.2] * 3)
    made = [p.createMultiBody(2, shape, basePosition=[0, 0, height]) for height in heights]
    p.resetBaseVelocity(made[-1], velocity, spin)
    return made[-1]


def load(model, **options):
    return p.loadURDF(f"{pybullet_data.getDataPath()}/{model}", **options)


def driven_arm():
    robot = load("kuka_iiwa/model.urdf", useFixedBase=True)
    for joint in range(7):
        p.setJointMotorControl2(robot, joint, p.POSITION_CONTROL, targetPosition=0.5, force=100)
    return robot


def kick_base(step, body):
    if step == 40:
        velocity, spin = p.getBaseVelocity(body)
        p.resetBaseVelocity(body, [1.01 * part + 0.02 for part in velocity], spin)


simulate_pybullet("rest", lambda: boxes(0.2))
simulate_pybullet("slide", lambda: boxes(0.2, velocity=(2, 0, 0)))
simulate_pybullet("stack", lambda: boxes(*HEIGHTS))
simulate_pybullet("spin", lambda: boxes(3, velocity=(1, 0, 0), spin=(3, 2, 1)), steps=120)
simulate_pybullet("arm", driven_arm)
simulate_pybullet("robot", lambda: load("r2d2.urdf", basePosition=[2, 0, 1]))
simulate_pybullet("kick", lambda: boxes(3), steps=60, act=kick_base)
simulate_pybullet("kick-robot", lambda: load("r2d2.urdf", basePosition=[2, 0, 3]), steps=60, act=kick_base)
