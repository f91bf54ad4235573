# cspell:ignore nbody niter xipos ipos iquat ximat xpos xquat cvel subtree rootid weldid parentid jntnum jntadr geomnum geomadr bodyid mjt xfrc ncon mjtgeom qpos -- names of MuJoCo
"""Records MuJoCo simulations. Not run with MuJoCo by our tests, but with a stand-in of its API."""

import atexit

from . import Recorder

# By mjtGeom.
_SHAPES = {0: "plane", 2: "sphere", 3: "capsule", 6: "box"}
_PYRAMIDAL, _RUNGE_KUTTA = 0, 1


class MujocoRecorder:
    """Call `step()` after every `mj_step`. The file is completed by `close()`, or at the end of the program.

    Bodies fixed to the world are the environment. Bodies of a tree with joints are a group; the reactions of its joints
    are not recorded. `step()` also brings the poses in `data` up to date with `qpos`.
    """

    def __init__(self, mujoco, model, data, path="run.mcap", **options):
        self._mujoco, self._model, self._data = mujoco, model, data
        bodies = [self._describe(body) for body in range(model.nbody)]
        self._moving = [body["id"] for body in bodies if not body.get("is_environment")]
        # Contacts are those of the last stage of the integrator.
        substeps = {"substeps": 4} if int(model.opt.integrator) == _RUNGE_KUTTA else {}
        constants = {
            "engine": "MuJoCo",
            "engine_version": getattr(mujoco, "__version__", None),
            "dt": float(model.opt.timestep),
            "gravity": _floats(model.opt.gravity),
            "lambda_unit": "N·s",
            **substeps,
            **options,
        }
        self._recorder = Recorder(path, bodies, **constants)
        self._warnings = self._count_warnings()
        atexit.register(self.close)

    def step(self):
        """Records the state after a step. Contacts belong to the pose before it, as the format requires."""
        mujoco, model, data = self._mujoco, self._model, self._data
        contacts = [self._contact(data.contact[i]) for i in range(data.ncon)]
        forces = self._forces()
        for update in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            update(model, data)
        states = [self._state(body) for body in self._moving]
        iterations = _first(data.solver_niter)
        self._recorder.frame(
            time=float(data.time),
            contacts=contacts,
            position=[state[0] for state in states],
            velocity=[state[1] for state in states],
            orientation=[state[2] for state in states],
            angular_velocity_world=[state[3] for state in states],
            solver_iterations=iterations,
            solver_converged=iterations < int(model.opt.iterations),
            **forces,
        )
        warnings = self._count_warnings()
        if warnings != self._warnings:
            self._recorder.dump()

    def dump(self):
        """Writes the frames that `last` keeps."""
        self._recorder.dump()

    def close(self):
        atexit.unregister(self.close)
        self._recorder.close()

    def _describe(self, body):
        model, data = self._model, self._data
        if model.body_weldid[body] == 0:
            fixed = {"position": _floats(data.xpos[body]), "orientation": _floats(data.xquat[body])}
            return {"id": body, "is_environment": True, **fixed, **self._shape(body, [0, 0, 0], [1, 0, 0, 0])}
        moving = {"id": body, "mass": float(model.body_mass[body]), "inertia": _floats(model.body_inertia[body])}
        if not self._is_single(body):
            moving["group"] = int(model.body_rootid[body])
        return {**moving, **self._shape(body, model.body_ipos[body], model.body_iquat[body])}

    def _is_single(self, body):
        model = self._model
        joint = model.body_jntadr[body]
        has_free_joint = model.body_jntnum[body] == 1 and model.jnt_type[joint] == 0
        return has_free_joint and all(model.body_parentid[other] != body for other in range(model.nbody))

    def _shape(self, body, origin, axes):
        """The shape of a body with one geom at the origin of its recorded pose."""
        model = self._model
        geom = model.body_geomadr[body]
        if model.body_geomnum[body] != 1:
            return {}
        if not (_is_near(model.geom_pos[geom], origin) and _is_near(model.geom_quat[geom], axes)):
            return {}
        kind = _SHAPES.get(int(model.geom_type[geom]))
        x, y, z = _floats(model.geom_size[geom])
        friction = {"friction": float(model.geom_friction[geom][0])}
        if kind == "box":
            return {"shape": {"kind": kind}, "half_extents": [x, y, z], **friction}
        if kind == "sphere":
            return {"shape": {"kind": kind, "radius": x}, **friction}
        if kind == "capsule":
            return {"shape": {"kind": kind, "radius": x, "half_length": y}, **friction}
        return {"shape": {"kind": kind}, **friction} if kind == "plane" else friction

    def _state(self, body):
        """Centre of mass and principal axes. `cvel` is the velocity at the centre of mass of the tree."""
        model, data = self._model, self._data
        place, motion = _floats(data.xipos[body]), _floats(data.cvel[body])
        spin, velocity = motion[:3], motion[3:]
        centre = _floats(data.subtree_com[model.body_rootid[body]])
        arm = [place[i] - centre[i] for i in range(3)]
        turned = _cross(spin, arm)
        axes = _multiply(_floats(data.xquat[body]), _floats(model.body_iquat[body]))
        return place, [velocity[i] + turned[i] for i in range(3)], axes, spin

    def _contact(self, contact):
        """MuJoCo's normal points from the first geom to the second, and its force acts on the second."""
        model, dt = self._model, float(self._model.opt.timestep)
        frame = _floats(_flatten(contact.frame))
        normal, tangent1, tangent2 = self._contact_force(contact)
        return {
            "a": int(model.geom_bodyid[contact.geom1]),
            "b": int(model.geom_bodyid[contact.geom2]),
            "point": _floats(contact.pos),
            "normal": frame[0:3],
            "depth": -float(contact.dist),
            "friction": float(contact.friction[0]),
            "tangent1": frame[3:6],
            "tangent2": frame[6:9],
            "normal_impulse": normal * dt,
            "tangent1_impulse": -tangent1 * dt,
            "tangent2_impulse": -tangent2 * dt,
        }

    def _contact_force(self, contact):
        """The force in the frame of a contact, as `mj_contactForce` returns it, but without a buffer of NumPy."""
        first, dim = int(contact.efc_address), int(contact.dim)
        if first < 0:
            return 0.0, 0.0, 0.0
        force = self._data.efc_force
        if dim == 1:
            return float(force[first]), 0.0, 0.0
        if int(self._model.opt.cone) != _PYRAMIDAL:
            return tuple(float(force[first + i]) for i in range(3))
        # Two edges of the pyramid for each direction of friction.
        edges = [float(force[first + i]) for i in range(2 * (dim - 1))]
        tangents = [(edges[2 * i] - edges[2 * i + 1]) * float(contact.friction[i]) for i in range(2)]
        return (sum(edges), *tangents)

    def _forces(self):
        """Forces that the user applies to bodies."""
        applied = {body: _floats(self._data.xfrc_applied[body]) for body in self._moving}
        pushed = [body for body, force in applied.items() if any(force)]
        if not pushed:
            return {}
        return {
            "force_body": pushed,
            "force": [applied[body][:3] for body in pushed],
            "torque": [applied[body][3:] for body in pushed],
            "force_at": [_floats(self._data.xipos[body]) for body in pushed],
        }

    def _count_warnings(self):
        return sum(int(warning.number) for warning in getattr(self._data, "warning", ()))


def _floats(values):
    return [float(value) for value in values]


def _flatten(values):
    return [part for value in values for part in (value if hasattr(value, "__len__") else [value])]


def _first(values):
    return int(values[0]) if hasattr(values, "__len__") else int(values)


def _is_near(one, other):
    return all(abs(a - b) < 1e-9 for a, b in zip(one, other))


def _cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _multiply(a, b):
    """Multiplies quaternions with w first."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return [
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    ]
