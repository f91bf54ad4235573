# cspell:ignore nbody niter xipos ipos iquat ximat xpos xquat cvel subtree rootid weldid parentid jntnum jntadr geomnum geomadr bodyid mjt xfrc ncon mjtgeom qpos -- names of MuJoCo
"""Records MuJoCo simulations."""

import atexit

from . import Recorder
from ._mujoco_joints import joint_columns, list_groups, list_ignored, measure_reactions
from ._vectors import cross, floats, is_near, multiply_quaternions, nested

# By mjtGeom.
_SHAPES = {0: "plane", 2: "sphere", 3: "capsule", 6: "box"}
_PYRAMIDAL, _RUNGE_KUTTA = 0, 1
_BODY = 1  # By mjtObj.


class MujocoRecorder:
    """Call `step()` after every `mj_step`. The file is completed by `close()`, or at the end of the program.

    Bodies fixed to the world are the environment. Bodies of a tree with joints are a group. The reactions of its joints are
    known with the Euler integrator, or without damping and actuators. `step()` also brings the poses in `data` up to date
    with `qpos`.

    describe_body: returns further members of the body with this id of the model, such as `surface_velocity`.
    """

    def __init__(self, mujoco, model, data, path="run.mcap", *, describe_body=lambda body: {}, **options):
        self._mujoco, self._model, self._data = mujoco, model, data
        self._groups = list_groups(model)
        self._ignored = list_ignored(model, self._groups)
        bodies = [{**self._describe(body), **describe_body(body)} for body in range(model.nbody)]
        self._moving = [body["id"] for body in bodies if not body.get("is_environment")]
        # Contacts are those of the last stage of the integrator.
        substeps = {"substeps": 4} if int(model.opt.integrator) == _RUNGE_KUTTA else {}
        constants = {
            "engine": "MuJoCo",
            "engine_version": getattr(mujoco, "__version__", None),
            "dt": float(model.opt.timestep),
            "gravity": floats(model.opt.gravity),
            "lambda_unit": "N·s",
            **substeps,
            **options,
        }
        self._has_joints = model.neq > 0 or any("group" in body for body in bodies)
        self._contact_bodies = [int(body) for body in model.geom_bodyid]
        self._recorder = Recorder(path, bodies, **constants)
        self._warnings = self._count_warnings()
        atexit.register(self.close)

    def step(self):
        """Records the state after a step. Contacts belong to the pose before it, as the format requires."""
        mujoco, model, data = self._mujoco, self._model, self._data
        contacts = self._contacts()
        joints = {}
        if self._has_joints:
            joints = joint_columns(model, data, self._moving, measure_reactions(mujoco, model, data))
        forces = self._forces()
        for update in (mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_comVel):
            update(model, data)
        iterations = _first(data.solver_niter)
        self._recorder.frame(
            time=float(data.time),
            solver_iterations=iterations,
            solver_converged=iterations < int(model.opt.iterations),
            **self._states(),
            **contacts,
            **joints,
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
        name = {"name": self._mujoco.mj_id2name(model, _BODY, body) or None}
        if model.body_weldid[body] == 0:
            fixed = {**name, "position": floats(data.xpos[body]), "orientation": floats(data.xquat[body])}
            shape = self._shape(body, [0, 0, 0], [1, 0, 0, 0])
            return {"id": body, "is_environment": True, **fixed, **shape, "ignores": self._ignored[body] or None}
        moving = {"id": body, **name, "mass": float(model.body_mass[body]), "inertia": floats(model.body_inertia[body])}
        if not self._is_single(body):
            moving["group"] = self._groups[body]
        shape = self._shape(body, model.body_ipos[body], model.body_iquat[body])
        return {**moving, **shape, "ignores": self._ignored[body] or None}

    def _is_single(self, body):
        model = self._model
        joint = model.body_jntadr[body]
        has_free_joint = model.body_jntnum[body] == 1 and model.jnt_type[joint] == 0
        return has_free_joint and self._groups.count(self._groups[body]) == 1

    def _shape(self, body, origin, axes):
        """The shape of a body with one geom at the origin of its recorded pose."""
        model = self._model
        geom = model.body_geomadr[body]
        if model.body_geomnum[body] != 1:
            return {}
        if not (is_near(model.geom_pos[geom], origin) and is_near(model.geom_quat[geom], axes)):
            return {}
        kind = _SHAPES.get(int(model.geom_type[geom]))
        x, y, z = floats(model.geom_size[geom])
        friction = {"friction": float(model.geom_friction[geom][0])}
        if kind == "box":
            return {"shape": {"kind": kind}, "half_extents": [x, y, z], **friction}
        if kind == "sphere":
            return {"shape": {"kind": kind, "radius": x}, **friction}
        if kind == "capsule":
            return {"shape": {"kind": kind, "radius": x, "half_length": y}, **friction}
        return {"shape": {"kind": kind}, **friction} if kind == "plane" else friction

    def _states(self):
        """Centres of mass and principal axes. `cvel` is the velocity at the centre of mass of the tree."""
        model, data = self._model, self._data
        places, motions, centres = nested(data.xipos), nested(data.cvel), nested(data.subtree_com)
        turns, axes, roots = nested(data.xquat), nested(model.body_iquat), nested(model.body_rootid)
        position, velocity, orientation, spins = [], [], [], []
        for body in self._moving:
            place, spin, motion = places[body], motions[body][:3], motions[body][3:]
            centre = centres[roots[body]]
            turned = cross(spin, [place[i] - centre[i] for i in range(3)])
            position += place
            velocity += [motion[i] + turned[i] for i in range(3)]
            orientation += multiply_quaternions(turns[body], axes[body])
            spins += spin
        return {
            "position": position,
            "velocity": velocity,
            "orientation": orientation,
            "angular_velocity_world": spins,
        }

    def _contacts(self):
        """Columns of the contacts. MuJoCo's normal points from the first geom to the second; its force acts on the second."""
        data, dt, bodies = self._data, float(self._model.opt.timestep), self._contact_bodies
        if data.ncon == 0:
            return {"contacts_known": True}
        contact = data.contact
        frames, geoms, forces = nested(contact.frame), nested(contact.geom), self._contact_forces()
        return {
            "contacts_known": True,
            "contact_a": [bodies[pair[0]] for pair in geoms],
            "contact_b": [bodies[pair[1]] for pair in geoms],
            "contact_point": contact.pos,
            "contact_normal": [part for frame in frames for part in frame[0:3]],
            "contact_depth": [-distance for distance in nested(contact.dist)],
            "contact_friction": [friction[0] for friction in nested(contact.friction)],
            "contact_tangent1": [part for frame in frames for part in frame[3:6]],
            "contact_tangent2": [part for frame in frames for part in frame[6:9]],
            "contact_normal_impulse": [force[0] * dt for force in forces],
            "contact_tangent1_impulse": [-force[1] * dt for force in forces],
            "contact_tangent2_impulse": [-force[2] * dt for force in forces],
        }

    def _contact_forces(self):
        """The force in the frame of each contact, as `mj_contactForce` returns it."""
        contact, force = self._data.contact, nested(self._data.efc_force)
        is_pyramid = int(self._model.opt.cone) == _PYRAMIDAL
        forces = []
        for first, dim, friction in zip(nested(contact.efc_address), nested(contact.dim), nested(contact.friction)):
            if first < 0:
                forces.append((0.0, 0.0, 0.0))
            elif dim == 1:
                forces.append((force[first], 0.0, 0.0))
            elif not is_pyramid:
                forces.append(force[first : first + 3])
            else:
                # Two edges of the pyramid for each direction of friction.
                edges = force[first : first + 2 * (dim - 1)]
                tangents = [(edges[2 * i] - edges[2 * i + 1]) * friction[i] for i in range(2)]
                forces.append((sum(edges), *tangents))
        return forces

    def _forces(self):
        """Forces that the user applies to bodies."""
        applied = nested(self._data.xfrc_applied)
        pushed = [body for body in self._moving if any(applied[body])]
        if not pushed:
            return {}
        return {
            "force_body": pushed,
            "force": [applied[body][:3] for body in pushed],
            "torque": [applied[body][3:] for body in pushed],
            "force_at": [floats(self._data.xipos[body]) for body in pushed],
        }

    def _count_warnings(self):
        return sum(nested(self._data.warning.number))


def _first(values):
    return int(values[0]) if hasattr(values, "__len__") else int(values)
