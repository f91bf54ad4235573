"""Records PyBullet simulations."""

import atexit

from . import Recorder
from ._vectors import cross

# By the type of a shape in PyBullet.
_SPHERE, _BOX, _PLANE = 2, 3, 6
_DEFAULT_STEP, _DEFAULT_ITERATIONS = 1 / 240, 50
# Kinds of joints by their number in causeway.proto, and by the types of PyBullet: revolute, prismatic, spherical, fixed, point to point.
_OTHER, _FIXED, _HINGE, _SLIDER, _BALL = range(5)
_KINDS = {0: _HINGE, 1: _SLIDER, 2: _BALL, 4: _FIXED, 5: _BALL}
_BASE = -1
# Ids of links: link l of body b is (l + 1) * 65536 + b.
_LINK = 1 << 16
_WORLD = _LINK - 1


class PybulletRecorder:
    """Call `step()` after every `p.stepSimulation()`. The file is completed by `close()`, or at the end of the program.

    Bases without mass are the environment. A body with links is a group of its base and links; a link without mass counts
    as part of its parent. PyBullet reports contacts as forces along a normal on b towards a, and centres of mass as positions.

    damping: linear and angular damping of all bodies, which PyBullet does not report. Its default is 0.04. A body with another
    damping is reported as a loss of energy.
    describe_body: returns further members of the body or link with this recorded id, such as `name` or `surface_velocity`.
    """

    def __init__(self, p, path="run.mcap", *, client=0, damping=(0.04, 0.04), describe_body=lambda body: {}, **options):
        self._p, self._client, self._damping = p, client, damping
        self._parts, self._owners, described = [], {}, []
        for index in range(p.getNumBodies(physicsClientId=client)):
            described += self._describe(p.getBodyUniqueId(index, physicsClientId=client))
        if any(child < 0 for _, _, child, *_ in self._list_constraints()):
            described.append({"id": _WORLD, "is_environment": True, "name": "world"})
        described = [{**part, **describe_body(part["id"])} for part in described]
        parameters = p.getPhysicsEngineParameters(physicsClientId=client)
        self._max_iterations = parameters.get("numSolverIterations", _DEFAULT_ITERATIONS)
        constants = {
            "engine": "PyBullet",
            "dt": parameters.get("fixedTimeStep", _DEFAULT_STEP),
            "gravity": [parameters[f"gravityAcceleration{axis}"] for axis in "XYZ"],
            "lambda_unit": "N",
            "convention": {"quaternion": "xyzw", "normal": "b_to_a"},
            **options,
        }
        self._moving = {part["id"] for part in self._parts}
        self._motions = [self._read(part)[1:] for part in self._parts]
        self._recorder = Recorder(path, described, **constants)
        atexit.register(self.close)

    def step(self, solver=None):
        """Records the state after a step. solver: what `p.stepSimulation()` returns with `reportSolverAnalytics`."""
        states = [self._read(part) for part in self._parts]
        rows = self._p.getContactPoints(physicsClientId=self._client)
        forces = self._damp(states) + [couple for couple in map(self._couple, rows) if couple]
        self._recorder.frame(
            contacts=[self._contact(row) for row in rows],
            position=[state[0] for state in states],
            orientation=[state[1] for state in states],
            velocity=[state[2] for state in states],
            angular_velocity_world=[state[3] for state in states],
            **self._joints(),
            **_force_columns(forces),
            **_describe_solver(solver, self._max_iterations),
        )
        self._motions = [state[1:] for state in states]

    def dump(self):
        """Writes the frames that `last` keeps."""
        self._recorder.dump()

    def close(self):
        atexit.unregister(self.close)
        self._recorder.close()

    def _describe(self, body):
        """Lists the base and the links of a body for the run, and adds those that move to the parts."""
        p, client = self._p, self._client
        links = range(p.getNumJoints(body, physicsClientId=client))
        described = [self._describe_part(body, _BASE, links)]
        self._owners[body, _BASE] = body
        for link in links:
            info = p.getJointInfo(body, link, physicsClientId=client)
            parent, name = self._owners[body, info[16]], info[12].decode(errors="replace")
            if p.getDynamicsInfo(body, link, physicsClientId=client)[0] == 0:
                self._owners[body, link] = parent
                continue
            part = self._describe_part(body, link, links)
            self._owners[body, link] = part["id"]
            self._parts[-1]["joint"] = (parent, _KINDS.get(info[2], _OTHER))
            described.append({**part, "name": name})
        return described

    def _describe_part(self, body, link, links):
        mass, friction, inertia, _, _, restitution, *_ = self._p.getDynamicsInfo(body, link, physicsClientId=self._client)
        surface = {"friction": friction, "restitution": restitution, **self._shape(body, link)}
        number = (link + 1) * _LINK + body
        if mass == 0:
            position, orientation = self._p.getBasePositionAndOrientation(body, physicsClientId=self._client)
            return {"id": number, "is_environment": True, "position": list(position), "orientation": list(orientation), **surface}
        self._parts.append({"id": number, "body": body, "link": link, "mass": mass, "inertia": inertia})
        group = {"group": body} if len(links) > 0 else {}
        return {"id": number, "mass": mass, "inertia": list(inertia), **group, **surface}

    def _shape(self, body, link):
        """The shape of a part with one shape around its centre of mass."""
        shapes = self._p.getCollisionShapeData(body, link, physicsClientId=self._client)
        if len(shapes) != 1:
            return {}
        kind, size, place, turn = shapes[0][2], shapes[0][3], shapes[0][5], shapes[0][6]
        if any(abs(part) > 1e-9 for part in place) or abs(turn[3]) < 1 - 1e-9:
            return {}
        if kind == _SPHERE:
            return {"shape": {"kind": "sphere", "radius": size[0]}}
        if kind == _BOX:
            return {"shape": {"kind": "box"}, "half_extents": [part / 2 for part in size]}
        return {"shape": {"kind": "plane"}} if kind == _PLANE else {}

    def _read(self, part):
        """Position, orientation, velocity and angular velocity of the centre of mass; for a link, also the point of its joint."""
        p, client, body = self._p, self._client, part["body"]
        if part["link"] == _BASE:
            pose = p.getBasePositionAndOrientation(body, physicsClientId=client)
            return (*pose, *p.getBaseVelocity(body, physicsClientId=client))
        state = p.getLinkState(body, part["link"], computeLinkVelocity=1, computeForwardKinematics=1, physicsClientId=client)
        part["point"] = state[4]
        return state[0], state[1], state[6], state[7]

    def _joints(self):
        """Joints of links and constraints between bodies. Their reactions are not known."""
        nan = float("nan")
        linked = [part for part in self._parts if "joint" in part]
        rows = [(part["id"], *part["joint"], part["point"]) for part in linked]
        for parent, parent_link, child, child_link, kind in self._list_constraints():
            a = self._owners[parent, parent_link]
            b = _WORLD if child < 0 else self._owners[child, child_link]
            rows.append((a, b, _KINDS.get(kind, _OTHER), (nan, nan, nan)))
        if not rows:
            return {}
        a, b, kinds, points = zip(*rows)
        return {"joint_a": a, "joint_b": b, "joint_kind": kinds, "joint_point": points}

    def _list_constraints(self):
        p, client = self._p, self._client
        for index in range(p.getNumConstraints(physicsClientId=client)):
            number = p.getConstraintUniqueId(index, physicsClientId=client)
            yield p.getConstraintInfo(number, physicsClientId=client)[:5]

    def _damp(self, states):
        """Forces of damping, by the velocities before the step: -m v (k + k |v|), as Bullet computes them."""
        linear, angular = self._damping
        if linear == 0 and angular == 0:
            return []
        forces = []
        for part, (orientation, velocity, spin), state in zip(self._parts, self._motions, states):
            drag, twist = linear * (1 + _norm(velocity)), angular * (1 + _norm(spin))
            turned = _rotate(orientation, spin, inverse=True)
            torque = [-moment * twist * component for moment, component in zip(part["inertia"], turned)]
            force = [-part["mass"] * drag * component for component in velocity]
            forces.append((part["id"], force, _rotate(orientation, torque), state[0]))
        return forces

    def _couple(self, row):
        """The torque on b of a contact between two moving bodies, whose force acts on each at its own point."""
        a, b = self._owners[row[1], row[3]], self._owners[row[2], row[4]]
        if a not in self._moving or b not in self._moving:
            return None
        arm = [on_b - on_a for on_a, on_b in zip(row[5], row[6])]
        force = [-row[9] * row[7][i] - row[10] * row[11][i] - row[12] * row[13][i] for i in range(3)]
        return b, [0.0, 0.0, 0.0], cross(arm, force), row[5]

    def _contact(self, row):
        """PyBullet applies the force on each body at that body's own point. The point is that of a, or of b if only b moves."""
        a, b = self._owners[row[1], row[3]], self._owners[row[2], row[4]]
        on_a, on_b, normal, distance, force = row[5], row[6], row[7], row[8], row[9]
        friction1, direction1, friction2, direction2 = row[10], row[11], row[12], row[13]
        return {
            "a": a,
            "b": b,
            "point": on_a if a in self._moving else on_b,
            "normal": list(normal),
            "depth": -distance,
            "friction": self._friction(row[1], row[3]) * self._friction(row[2], row[4]),
            "normal_impulse": force,
            "tangent1": list(direction1),
            "tangent2": list(direction2),
            "tangent1_impulse": friction1,
            "tangent2_impulse": friction2,
        }

    def _friction(self, body, link):
        return self._p.getDynamicsInfo(body, link, physicsClientId=self._client)[1]


def _force_columns(forces):
    if not forces:
        return {}
    bodies, pushes, torques, points = zip(*forces)
    return {"force_body": bodies, "force": pushes, "torque": torques, "force_at": points}


def _norm(vector):
    return sum(part * part for part in vector) ** 0.5


def _rotate(quaternion, vector, inverse=False):
    """Rotates a vector by a quaternion with w last."""
    x, y, z, w = quaternion
    axis = [-x, -y, -z] if inverse else [x, y, z]
    doubled = [2 * part for part in cross(axis, vector)]
    turned = cross(axis, doubled)
    return [vector[i] + w * doubled[i] + turned[i] for i in range(3)]


def _describe_solver(reports, max_iterations):
    """Bullet ends at its limit of iterations in ordinary use: that alone does not mean that it did not converge."""
    if not reports:
        return {}
    iterations = max(report["numIterationsUsed"] for report in reports)
    return {
        "solver_iterations": iterations,
        "solver_residual": max(report["remainingResidual"] for report in reports),
        "solver_converged": True if iterations < max_iterations else None,
    }
