# cspell:ignore nbody niter xipos ipos iquat ximat xpos xquat cvel subtree rootid weldid parentid jntnum jntadr geomnum geomadr bodyid mjt xfrc ncon mjtgeom qpos -- names of MuJoCo
"""A stand-in with the API of MuJoCo, for tests where MuJoCo cannot be installed: a box that slides on a floor."""

from types import SimpleNamespace

__version__ = "stand-in"
_MASS, _HALF, _FRICTION, _GRAVITY = 2.0, 0.2, 0.5, 9.81


class MjModel:
    def __init__(self):
        moment = _MASS * (2 * _HALF) ** 2 / 6
        self.opt = SimpleNamespace(timestep=0.005, gravity=[0, 0, -_GRAVITY], integrator=0, iterations=100, cone=1)
        self.nbody, self.neq = 2, 0
        self.body_weldid = [0, 1]
        self.body_mass = [0, _MASS]
        self.body_inertia = [[0, 0, 0], [moment, moment, moment]]
        self.body_rootid = [0, 1]
        self.body_parentid = [0, 0]
        self.body_jntnum, self.body_jntadr = [0, 1], [-1, 0]
        self.jnt_type = [0]
        self.body_ipos = [[0, 0, 0], [0, 0, 0]]
        self.body_iquat = [[1, 0, 0, 0], [1, 0, 0, 0]]
        self.body_geomnum, self.body_geomadr = [1, 1], [0, 1]
        self.geom_bodyid = [0, 1]
        self.geom_type = [0, 6]
        self.geom_contype, self.geom_conaffinity = [1, 1], [1, 1]
        self.npair, self.nexclude = 0, 0
        self.geom_pos = [[0, 0, 0], [0, 0, 0]]
        self.geom_quat = [[1, 0, 0, 0], [1, 0, 0, 0]]
        self.geom_size = [[9, 9, 1], [_HALF, _HALF, _HALF]]
        self.geom_friction = [[_FRICTION, 0, 0], [_FRICTION, 0, 0]]


class MjData:
    def __init__(self, model):
        self.time = 0.0
        self.x, self.speed = 0.0, 2.0
        self.ncon, self.contact, self.efc_force = 0, None, []
        self.solver_niter = [1]
        self.warning = SimpleNamespace(number=[0])
        self.xfrc_applied = [[0] * 6, [0] * 6]
        mj_kinematics(model, self)


def mj_step(model, data):
    """Contacts belong to the pose before the step, as in MuJoCo; poses are updated by `mj_kinematics`."""
    dt = model.opt.timestep
    load = _MASS * _GRAVITY
    friction = min(_FRICTION * load, _MASS * data.speed / dt)
    data.ncon = 1
    # The pressure moves forward, so that the box does not tip.
    point = [data.x + _HALF * friction / load, 0, 0]
    frame = [0, 0, 1, 1, 0, 0, 0, 1, 0]
    contact = {"geom": [[0, 1]], "pos": [point], "dist": [0.0], "frame": [frame], "dim": [3], "efc_address": [0]}
    data.contact = SimpleNamespace(friction=[[_FRICTION] * 5], **contact)
    data.efc_force = [load, -friction, 0.0]
    data.speed -= friction / _MASS * dt
    data.x += data.speed * dt
    data.time += dt


def mj_id2name(model, kind, number):
    return ["world", "box"][number]


def mj_kinematics(model, data):
    data.xpos = data.xipos = data.subtree_com = [[0, 0, 0], [data.x, 0, _HALF]]
    data.xquat = [[1, 0, 0, 0], [1, 0, 0, 0]]


def mj_comPos(model, data):
    pass


def mj_comVel(model, data):
    data.cvel = [[0] * 6, [0, 0, 0, data.speed, 0, 0]]
